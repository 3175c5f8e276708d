import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { ArrivingBody, UnfinishedBodies } from '../../../src/transport/unfinished-bodies.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The request of a client_secret, or of an address without a credential. */
function from(caller: { readonly invoiceId?: string; readonly ip?: string }): Context {
  const { invoiceId, ip = '192.0.2.1' } = caller;
  const identity = invoiceId === undefined ? undefined : { principal: { kind: 'client', invoiceId } };
  return { ip, state: { identity } } as unknown as Context;
}

const bodies = () => new UnfinishedBodies({ all: 8 * MIB, sharer: 4 * MIB, caller: 2 * MIB });

it('admits bodies up to the limit of a caller, of its sharer and of all, and goes on with those it has admitted', () => {
  const held = bodies();
  const begin = (caller: Parameters<typeof from>[0]) => new ArrivingBody(from(caller), MIB, held);
  const admitted = [begin({ invoiceId: 'inv_1' }), begin({ invoiceId: 'inv_1' })];
  expect(admitted.map((each) => each.admit())).toEqual([true, true]);
  expect(begin({ invoiceId: 'inv_1' }).admit()).toBe(false);
  const others = [begin({ invoiceId: 'inv_2' }), begin({ invoiceId: 'inv_3' })];
  expect(others.map((each) => each.admit())).toEqual([true, true]);
  // The holders of client_secrets have a part together, however many they are.
  expect(begin({ invoiceId: 'inv_4' }).admit()).toBe(false);
  expect(begin({ ip: '192.0.2.7' }).admit()).toBe(true);
  const first = admitted[0] as ArrivingBody;
  for (let left = MIB; left > 0; left -= 64 * KIB) expect(first.add(Buffer.alloc(64 * KIB))).toBe(true);
  expect(first.bytes()).toHaveLength(MIB);
  first.release();
  expect(begin({ invoiceId: 'inv_4' }).admit()).toBe(true);
});

it('always has place for a small body', () => {
  const held = bodies();
  while (held.take('', '192.0.2.1', MIB)) {}
  const small = new ArrivingBody(from({}), 16 * KIB, held);
  expect([small.admit(), small.add(Buffer.alloc(16 * KIB))]).toEqual([true, true]);
  const before = held.bytes;
  // Of a length that is not known.
  const growing = new ArrivingBody(from({}), 0, held);
  expect([growing.admit(), growing.add(Buffer.alloc(10 * KIB)), growing.add(Buffer.alloc(10 * KIB))]).toEqual([
    ...[true, true, false],
  ]);
  expect(held.bytes).toBe(before);
});

it('returns what a body took, and keeps nothing of one that it refuses', () => {
  const held = bodies();
  for (const expected of [0, MIB]) {
    const body = new ArrivingBody(from({}), expected, held);
    body.admit();
    for (let i = 0; i < 40; i++) body.add(Buffer.alloc(10 * KIB));
    expect(held.bytes).toBeGreaterThanOrEqual(400 * KIB);
    expect(held.bytes).toBeLessThanOrEqual(MIB);
    body.release();
    body.release();
    expect(held.bytes).toBe(0);
  }
});

it('keeps the bytes, in pieces of any length', () => {
  const text = Buffer.from(Array.from({ length: 30_000 }, (_, i) => i % 251));
  for (const piece of [1, 7, 4096, 30_000]) {
    for (const expected of [0, text.length]) {
      const body = new ArrivingBody(from({}), expected, bodies());
      for (let at = 0; at < text.length; at += piece) body.add(text.subarray(at, at + piece));
      expect(body.bytes().equals(text)).toBe(true);
    }
  }
  expect(new ArrivingBody(from({}), 0).bytes()).toHaveLength(0);
});
