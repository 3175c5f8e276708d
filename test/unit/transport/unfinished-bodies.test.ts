import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { ArrivingBody, BodyPool, type BodyPools } from '../../../src/transport/unfinished-bodies.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The request of a credential, or of an address without one. */
function from(caller: {
  readonly invoiceId?: string;
  readonly publishable?: string;
  readonly tenant?: string;
  readonly keyId?: string;
  readonly ip?: string;
}): Context {
  const { invoiceId, publishable, tenant, keyId = `${tenant}-key`, ip = '192.0.2.1' } = caller;
  const principal = invoiceId
    ? { kind: 'client', invoiceId }
    : publishable
      ? { kind: 'publishable', keyId: `${publishable}-pk`, tenant: { id: publishable } }
      : tenant
        ? { kind: 'secret', keyId, tenant: { id: tenant } }
        : null;
  return { ip, state: { identity: principal ? { principal } : undefined } } as unknown as Context;
}

const pools = (): BodyPools => ({ members: new BodyPool(8 * MIB), others: new BodyPool(4 * MIB) });
const beginIn =
  (held: BodyPools) =>
  (caller: Parameters<typeof from>[0], bytes = MIB) =>
    new ArrivingBody(from(caller), bytes, held);
/** How many of them have place. */
const kept = (bodies: readonly ArrivingBody[]) => bodies.filter((each) => each.bytes() !== null).length;
const times = (count: number, make: () => ArrivingBody) => Array.from({ length: count }, make);

it('lets a caller take what nobody else needs; a sharer that holds less takes it back from the oldest', () => {
  const begin = beginIn(pools());
  const one = times(9, () => begin({ tenant: 'one' }));
  expect(one.map((each) => each.bytes() !== null)).toEqual([...Array(8).fill(true), false]);
  const two = times(9, () => begin({ tenant: 'two' }));
  expect([kept(one), kept(two)]).toEqual([4, 4]);
  // The newest are left.
  expect(one.slice(4, 8).every((each) => each.bytes() !== null)).toBe(true);
  expect(two.slice(0, 4).every((each) => each.bytes() !== null)).toBe(true);
  const three = times(9, () => begin({ tenant: 'three' }));
  expect([kept(one), kept(two), kept(three)].toSorted()).toEqual([2, 3, 3]);
  // So it is however many there are, down to a body for each.
  for (let n = 0; n < 5; n++) expect(begin({ tenant: `further ${n}` }).bytes()).not.toBeNull();
});

it('divides the part of a sharer among its callers likewise', () => {
  const begin = beginIn(pools());
  const leaked = times(9, () => begin({ tenant: 'one', keyId: 'leaked' }));
  const other = times(9, () => begin({ tenant: 'one', keyId: 'other' }));
  expect([kept(leaked), kept(other)]).toEqual([4, 4]);
});

it('drops nothing for a newcomer that finds no place all the same', () => {
  const held = pools();
  const begin = beginIn(held);
  const bodies = Array.from({ length: 6 }, (_, n) => begin({ tenant: `tenant ${n}` }));
  bodies.push(begin({ tenant: 'smaller' }, MIB - 64 * KIB));
  bodies.push(...times(17, () => begin({ tenant: 'larger' }, 64 * KIB)));
  expect([kept(bodies), held.members.bytes]).toEqual([24, 8 * MIB]);
  // A body of the larger one would not suffice.
  expect(begin({ tenant: 'new' }).bytes()).toBeNull();
  expect([kept(bodies), held.members.bytes]).toEqual([24, 8 * MIB]);
  expect(begin({ tenant: 'new' }, 64 * KIB).bytes()).not.toBeNull();
});

it('gives nothing of the place of members to credentials that stand in pages, or to none', () => {
  const held = pools();
  const begin = beginIn(held);
  for (let n = 0; n < 20; n++) {
    begin({ publishable: `tenant ${n}` });
    begin({ invoiceId: `inv_${n}` });
    begin({ ip: `192.0.2.${n}` });
  }
  expect([held.members.bytes, held.others.bytes]).toEqual([0, 4 * MIB]);
  expect(kept(times(8, () => begin({ tenant: 'tenant 1' })))).toBe(8);
});

it('always has place for a small body', () => {
  const held = pools();
  const begin = beginIn(held);
  while (begin({}).bytes() !== null) {}
  const small = begin({}, 16 * KIB);
  small.add(Buffer.alloc(16 * KIB));
  expect(small.bytes()).toHaveLength(16 * KIB);
  const before = held.others.bytes;
  // Of a length that is not known.
  const growing = begin({}, 0);
  growing.add(Buffer.alloc(10 * KIB));
  expect(growing.bytes()).toHaveLength(10 * KIB);
  growing.add(Buffer.alloc(10 * KIB));
  expect(growing.bytes()).toBeNull();
  expect(held.others.bytes).toBe(before);
});

it('returns what a body took, and keeps nothing of one that it refuses', () => {
  const held = pools();
  for (const expected of [0, MIB]) {
    const body = beginIn(held)({}, expected);
    for (let i = 0; i < 40; i++) body.add(Buffer.alloc(10 * KIB));
    expect(held.others.bytes).toBeGreaterThanOrEqual(400 * KIB);
    expect(held.others.bytes).toBeLessThanOrEqual(MIB);
    body.release();
    body.release();
    expect(held.others.bytes).toBe(0);
  }
});

it('keeps the bytes, in pieces of any length', () => {
  const text = Buffer.from(Array.from({ length: 30_000 }, (_, i) => i % 251));
  for (const piece of [1, 7, 4096, 30_000]) {
    for (const expected of [0, text.length]) {
      const body = new ArrivingBody(from({}), expected, pools());
      for (let at = 0; at < text.length; at += piece) body.add(text.subarray(at, at + piece));
      expect(body.bytes()?.equals(text)).toBe(true);
    }
  }
  expect(new ArrivingBody(from({}), 0).bytes()).toHaveLength(0);
});
