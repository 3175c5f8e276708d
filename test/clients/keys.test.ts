import { expect, it } from 'vitest';
import { Fatoura } from '../../clients/typescript/src/index.ts';
import { type Keyed, keyOf } from '../../clients/typescript/src/keys.ts';

// What the conformance suite cannot say: what JavaScript passes in spite of the types, and both options at once.

it('refuses what is no text before anything is sent, and says how to have none', async () => {
  let sent = 0;
  const fetch = async () => Response.json({ id: `inv_${sent++}` });
  const { invoices } = new Fatoura('sk_test_1', { baseUrl: 'http://service.test', fetch });
  const invoice = { amount: 1, currency: 'MAD', customer: { ice: '', name: '' }, lines: [] } as const;
  for (const name of ['orderNumber', 'idempotencyKey'] as const)
    for (const value of [null, '', ' \u{a0}', Number.NaN, 1042, {}]) {
      const options = { [name]: value } as Keyed;
      const refusal = await invoices.create(invoice, options).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(TypeError);
      expect(String(refusal)).toMatch(new RegExp(`${name} is .* blank.*leave it out`));
    }
  expect(sent).toBe(0);
});

it('takes the key where both are stated, and refuses a blank number all the same', () => {
  expect(keyOf({ orderNumber: '77', idempotencyKey: 'a' })).toBe('a');
  expect(() => keyOf({ orderNumber: '', idempotencyKey: 'a' })).toThrow('orderNumber');
});

it('makes a key of its own for each call without one', () => {
  expect(keyOf({})).toMatch(/^[\da-f-]{36}$/);
  expect(keyOf({ orderNumber: undefined })).not.toBe(keyOf({}));
});
