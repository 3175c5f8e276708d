import { expect, it } from 'vitest';
import { soleKey } from '../../../src/domain/data-keys.ts';
import { createSecretBox } from '../../../src/domain/secret-box.ts';

const box = createSecretBox(soleKey(Buffer.alloc(32, 1)), 'webhook-endpoint');
const SECRET = 'whsec_AAAA';

it('opens what it sealed, and never gives the same sealed text twice', () => {
  const [first, second] = [box.seal(SECRET, 'we_1'), box.seal(SECRET, 'we_1')];
  expect(first).not.toBe(second);
  expect(Buffer.from(first, 'base64url').includes(SECRET)).toBe(false);
  expect([box.open(first, 'we_1'), box.open(second, 'we_1')]).toEqual([SECRET, SECRET]);
  expect(createSecretBox(soleKey(Buffer.alloc(32, 1)), 'webhook-endpoint').open(first, 'we_1')).toBe(SECRET);
});

it('does not open for another owner, another purpose, under another key, or when any byte is changed', () => {
  const sealed = box.seal(SECRET, 'we_1');
  expect(() => box.open(sealed, 'we_2')).toThrow();
  expect(() => createSecretBox(soleKey(Buffer.alloc(32, 1)), 'other').open(sealed, 'we_1')).toThrow();
  expect(() => createSecretBox(soleKey(Buffer.alloc(32, 2)), 'webhook-endpoint').open(sealed, 'we_1')).toThrow(
    /a key that is not here/,
  );
  const bytes = Buffer.from(sealed, 'base64url');
  for (let i = 0; i < bytes.length; i++) {
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8(bytes.readUInt8(i) ^ 1, i);
    expect(() => box.open(damaged.toString('base64url'), 'we_1')).toThrow();
  }
  for (const cut of ['', sealed.slice(0, 10), sealed.slice(0, -4)]) expect(() => box.open(cut, 'we_1')).toThrow();
});
