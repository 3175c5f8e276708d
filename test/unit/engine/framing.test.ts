import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeldBytes, type Holder } from '../../../src/engine/held-bytes.ts';
import { Framing } from '../../../src/engine/wire/framing.ts';

const message = fc.uint8Array({ maxLength: 60 }).map((content) => {
  const bytes = Buffer.concat([Buffer.alloc(16), content]);
  bytes.writeInt32LE(bytes.length, 0);
  return bytes;
});

describe('framing', () => {
  it('returns the messages of a stream, whatever its chunks', () => {
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (messages, cuts) => {
        const framing = new Framing();
        const found: Buffer[] = [];
        let rest = Buffer.concat(messages);
        for (let n = 0; rest.length > 0; n++) {
          const size = cuts[n % cuts.length]!;
          found.push(...framing.push(Buffer.from(rest.subarray(0, size))));
          rest = rest.subarray(size);
        }
        expect(found.map((each) => each.toString('hex'))).toEqual(messages.map((each) => each.toString('hex')));
        expect(framing.held).toBe(0);
      }),
    );
  });

  it('uses at most twice the received bytes, whatever the length field and the chunk size', () => {
    const framing = new Framing();
    const head = Buffer.alloc(16);
    head.writeInt32LE(48_000_000, 0);
    const before = process.memoryUsage().arrayBuffers;
    framing.push(head);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000);
    for (let n = 0; n < 3_000_000; n++) framing.push(head.subarray(0, 1));
    expect(framing.held).toBe(3_000_016);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });

  it('refuses invalid lengths', () => {
    for (const length of [-1, 0, 15, 48_000_001, 2 ** 31 - 1]) {
      const head = Buffer.alloc(16);
      head.writeInt32LE(length, 0);
      expect(() => new Framing().push(head)).toThrow('out of range');
    }
  });
});

describe('held bytes', () => {
  it('are limited for all clients together: the one without progress for the longest time is closed', () => {
    const dropped: string[] = [];
    const held = new HeldBytes(100);
    const holder = (name: string): Holder => ({ drop: () => void dropped.push(name) });
    const [a, b, c] = [holder('a'), holder('b'), holder('c')];
    held.set(a, 40);
    held.set(b, 40);
    held.set(a, 50);
    held.set(c, 20);
    expect([dropped, held.total, held.isHigh]).toEqual([['b'], 70, true]);
    held.set(a, 0);
    expect(held.isHigh).toBe(false);
    held.set(c, 90);
    expect([dropped, held.total]).toEqual([['b'], 90]);
    held.set(c, 101);
    expect([dropped, held.total]).toEqual([['b', 'c'], 0]);
  });
});
