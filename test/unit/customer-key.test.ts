import { expect, it } from 'vitest';
import { customerKey } from '../../src/domain/invoice/customer-key.ts';

it.each([
  ['Société Générale de l’Étang, S.A.R.L.', 'societe generale de l etang s a r l'],
  ['  ATLAS\tconseil ', 'atlas conseil'],
  ['ﬁnance №5', 'finance no5'],
  ['شَرِكَة الأطلس', 'شركة الاطلس'],
  ['!?…', ''],
  ['é'.repeat(200), 'e'.repeat(100)],
])('%s', (name, key) => {
  expect(customerKey(name)).toBe(key);
});

it('is bounded in time for a name of accents alone', () => {
  expect(customerKey(`a${'\u0301'.repeat(100_000)}`)).toBe('a');
});
