import { expect, it } from 'vitest';
import { Fatoura } from '../../clients/typescript/src/index.ts';

const KEY = 'sk_test_hidden';

it('a key may end with a line break, and one with other characters is refused without being shown', () => {
  const options = { baseUrl: 'http://localhost' };
  expect(() => new Fatoura(`${KEY}\n`, options)).not.toThrow();
  for (const wrong of ['', ' \n'])
    expect(() => new Fatoura(wrong, options)).toThrow(new TypeError('The secret key is missing.'));
  for (const wrong of [`${KEY}\r\nX-Other: 1`, `${KEY} x`, `${KEY}é`])
    expect(() => new Fatoura(wrong, options)).toThrow(new TypeError('The secret key has characters that no key has.'));
});
