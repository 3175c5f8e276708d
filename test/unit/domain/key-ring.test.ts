import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dataKeys, soleKey } from '../../../src/domain/data-keys.ts';
import { newId } from '../../../src/domain/ids.ts';
import {
  type KeyRing,
  KNOWN_MS,
  newRing,
  openRing,
  sealedBy,
  WrongMasterKey,
  withEnd,
  withNewKey,
} from '../../../src/domain/installation/key-ring.ts';
import { createClientSecrets } from '../../../src/domain/invoice/client-secret.ts';
import { createSecretBox } from '../../../src/domain/secret-box.ts';

const [OLD, NEW, THIRD] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const NOW = new Date();
const later = (ms: number) => new Date(NOW.getTime() + ms);
const keysOf = (ring: KeyRing, master: Uint8Array) => dataKeys(() => openRing(ring, master).data);
const bytesOf = (ring: KeyRing, master: Uint8Array) => {
  const { data, sessions } = openRing(ring, master);
  return [...data, ...sessions].map(({ number, secret }) => [number, secret.export().toString('hex')]);
};
const rotated = (ring: KeyRing, openers: readonly Uint8Array[], master: Uint8Array) =>
  sealedBy(ring, { openers, master, now: NOW, mayLose: false });
function some<T>(value: T | null): T {
  if (value === null) throw new Error('nothing');
  return value;
}

describe('another master key', () => {
  it('seals the same keys, and the old one opens none of them in a new copy', () => {
    const ring = newRing(OLD, NOW);
    const sealed = some(rotated(ring, [NEW, OLD], NEW));
    expect(bytesOf(sealed, NEW)).toEqual(bytesOf(ring, OLD));
    expect(sealed.revision).toBe(ring.revision + 1);
    expect(() => openRing(sealed, OLD)).toThrow(WrongMasterKey);
    // Whatever is written into the mark: the keys themselves do not open, nor does one in another's place.
    for (const key of sealed.keys)
      expect(() =>
        createSecretBox(soleKey(OLD), 'data-key').open(key.sealed, `${key.purpose}:${key.number}`),
      ).toThrow();
    const [first, second] = sealed.keys as [KeyRing['keys'][0], KeyRing['keys'][0]];
    const swapped = [{ ...first, sealed: second.sealed }, second];
    expect(() => openRing({ ...sealed, keys: swapped }, NEW)).toThrow();
    // Nor is anything of a new installation derived from the master key.
    expect(bytesOf(ring, OLD).flat()).not.toContain(OLD.toString('hex'));
  });

  it('is refused when the ring is not sealed by one that is given, and there is nothing to do a second time', () => {
    const ring = newRing(OLD, NOW);
    expect(() => rotated(ring, [NEW, THIRD], NEW)).toThrow(WrongMasterKey);
    const sealed = some(rotated(ring, [NEW, OLD], NEW));
    expect(rotated(sealed, [NEW, OLD], NEW)).toBeNull();
    // Another operator, with another new key.
    expect(() => rotated(sealed, [THIRD, OLD], THIRD)).toThrow(WrongMasterKey);
  });

  it('that is adopted because the right one is lost makes new keys, and the lost ones come back when it is found', () => {
    const ring = newRing(OLD, NOW);
    const adopted = some(sealedBy({ ...ring, master: null }, { openers: [NEW], master: NEW, now: NOW, mayLose: true }));
    expect(adopted.keys.map(({ number, lost }) => [number, lost])).toEqual([[1, true], [2, true], [3, false], [4, false]]); // biome-ignore format: a table
    const found = some(rotated(adopted, [NEW, OLD], NEW));
    expect(found.keys.every(({ lost }) => !lost)).toBe(true);
    expect(bytesOf(found, NEW)).toEqual(expect.arrayContaining(bytesOf(ring, OLD)));
    // One that was only forgotten and is given again loses nothing.
    const again = some(sealedBy({ ...ring, master: null }, { openers: [OLD], master: OLD, now: NOW, mayLose: true }));
    expect(bytesOf(again, OLD)).toEqual(bytesOf(ring, OLD));
  });
});

describe('a new data key', () => {
  it('is used when all processes know it; the earlier one is accepted until it ends, and opens for ever', () => {
    const ring = newRing(OLD, later(-2 * KNOWN_MS));
    const options = { master: OLD, now: later(-KNOWN_MS / 2), earlierEndAt: later(3_600_000) };
    const rotatedRing = withNewKey(ring, 'data', options);
    const keys = keysOf(rotatedRing, OLD);
    // Not used for another half of that time, but accepted from others whose clock is ahead.
    expect(keys.newest().number).toBe(1);
    expect(keys.accepted().map(({ number }) => number)).toEqual([3, 1]);
    expect(() => withNewKey(rotatedRing, 'data', options)).toThrow('there is a new key already, 3');

    const used = {
      ...rotatedRing,
      keys: rotatedRing.keys.map((key) => (key.number === 3 ? { ...key, usedFrom: NOW } : key)),
    };
    const [before, now] = [keysOf(ring, OLD), keysOf(used, OLD)];
    const invoice = newId('inv');
    const [old, fresh] = [createClientSecrets(before).issue(invoice), createClientSecrets(now).issue(invoice)];
    expect(fresh).not.toBe(old);
    const sealed = createSecretBox(before, 'p').seal('s', 'o');
    const checks = (keysNow: typeof now) =>
      [old, fresh].map((each) => createClientSecrets(keysNow).verify(each) !== null);
    expect(checks(now)).toEqual([true, true]);
    const ended = keysOf(withEnd(used, 1, NOW, later(1)), OLD);
    expect(checks(ended)).toEqual([false, true]);
    expect(createSecretBox(ended, 'p').open(sealed, 'o')).toBe('s');
    expect(createSecretBox(ended, 'p').isNewest(sealed)).toBe(false);
    expect(createSecretBox(ended, 'p').isNewest(createSecretBox(ended, 'p').seal('s', 'o'))).toBe(true);
    // And back.
    expect(checks(keysOf(withEnd(withEnd(used, 1, NOW, later(1)), 1, null, later(1)), OLD))).toEqual([true, true]);
  });

  it('cannot be ended before another one is used', () => {
    const ring = newRing(OLD, NOW);
    expect(() => withEnd(ring, 1, NOW, NOW)).toThrow('is in use');
    const waiting = withNewKey(ring, 'data', { master: OLD, now: NOW, earlierEndAt: null });
    expect(() => withEnd(waiting, 1, NOW, NOW)).toThrow('is in use');
    expect(() => withEnd(ring, 2, NOW, NOW)).toThrow('no data key 2');
    expect(() => withNewKey(ring, 'data', { master: NEW, now: NOW, earlierEndAt: null })).toThrow(WrongMasterKey);
  });
});
