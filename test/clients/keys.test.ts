import { expect, it } from 'vitest';
import { Fatoura } from '../../clients/typescript/src/index.ts';
import { keyOf, type Ordered } from '../../clients/typescript/src/keys.ts';

// What the conformance suite cannot say: what JavaScript passes in spite of the types, and both options at once.

it('refuses what is no text before anything is sent, and says how to have none', async () => {
  let sent = 0;
  const fetch = async () => Response.json({ id: `inv_${sent++}` });
  const { invoices } = new Fatoura('sk_test_1', { baseUrl: 'http://service.test', fetch });
  const invoice = { amount: 1, currency: 'MAD', customer: { ice: '', name: '' }, lines: [] } as const;
  for (const name of ['orderNumber', 'idempotencyKey'] as const)
    for (const value of [null, '', ' \u{a0}', Number.NaN, 1042, {}]) {
      const options = { [name]: value } as Ordered;
      const refusal = await invoices.create(invoice, options).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(TypeError);
      expect(String(refusal)).toMatch(new RegExp(`${name} is .* blank.*leave it out`));
    }
  expect(sent).toBe(0);
});

it('takes the key where both are stated, and refuses a blank number all the same', async () => {
  expect(await keyOf({ orderNumber: '77', idempotencyKey: 'a' })).toBe('a');
  await expect(keyOf({ orderNumber: '', idempotencyKey: 'a' })).rejects.toThrow('orderNumber');
});

it('makes a key of its own for each call without one', async () => {
  expect(await keyOf({})).toMatch(/^[\da-f-]{36}$/);
  expect(await keyOf({ orderNumber: undefined })).not.toBe(await keyOf({}));
});

it('refuses half of a character, and takes a whole one', async () => {
  for (const half of ['7\ud83d', '\ude00']) {
    await expect(keyOf({ orderNumber: half })).rejects.toThrow(TypeError);
    await expect(keyOf({ idempotencyKey: half })).rejects.toThrow('half of a character');
  }
  expect(await keyOf({ orderNumber: '\u{1f600}' })).toBe('order %F0%9F%98%80');
});

it('makes the same of a key that it has made', async () => {
  for (const orderNumber of [' é%', 'ط'.repeat(300)]) {
    const key = await keyOf({ orderNumber });
    expect(await keyOf({ idempotencyKey: key })).toBe(key);
  }
});
