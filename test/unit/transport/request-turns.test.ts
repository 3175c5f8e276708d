import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { beforeEach, expect, it } from 'vitest';
import { serviceError } from '../../../src/domain/errors.ts';
import { takeTurn } from '../../../src/domain/event-loop-turns.ts';
import { ask } from '../../../src/transport/ask.ts';
import { readBytes } from '../../../src/transport/body.ts';
import { waitForTurn } from '../../../src/transport/request-turns.ts';

/** More than a turn has room for, so that each takes a turn of its own. */
const LONG = 10_000;

const requestOf = () =>
  ({ state: {}, method: 'POST', req: { complete: true }, res: { closed: false } }) as unknown as Context;

/** Begins so many long pieces of work, of which the first takes all of this turn. */
const busy = (count: number) => Array.from({ length: count }, () => waitForTurn(requestOf(), 'body', LONG));

const turn = () => new Promise<void>((next) => setImmediate(next));

// A full turn begins.
beforeEach(async () => {
  await turn();
  await turn();
});

it('work that has room does not wait; other work waits, a turn each', async () => {
  const order: string[] = [];
  const done = busy(4).map((work, nth) => work.then(() => order.push(`work ${nth}`)));
  await new Promise((next) => process.nextTick(next));
  order.push('first turn');
  for (let nth = 0; nth < 3; nth++) {
    await turn();
    order.push('turn');
  }
  await Promise.all(done);
  expect(order).toEqual(['work 0', 'first turn', 'work 1', 'turn', 'work 2', 'turn', 'work 3', 'turn']);
});

it('a request that has waited is refused if the permission of its caller has ended meanwhile', async () => {
  const before = busy(8);
  const ctx = requestOf();
  let ended = false;
  await ask(ctx, async () => {
    if (ended) throw serviceError('api_key_revoked', 'ended');
  });
  const waits = waitForTurn(ctx, 'body', 1);
  ended = true;
  await expect(waits).rejects.toMatchObject({ code: 'api_key_revoked' });
  await Promise.all(before);
});

it('the turns of clients that have disconnected go to the others', async () => {
  const before = busy(2);
  const gone = Array.from({ length: 20 }, requestOf);
  const refused = gone.map((ctx) => expect(waitForTurn(ctx, 'body', LONG)).rejects.toThrow('has disconnected'));
  let turns = 0;
  const last = waitForTurn(requestOf(), 'body', 1).then(() => turns);
  for (const { res } of gone) Object.assign(res, { closed: true });
  for (; turns < 5; turns++) await turn();
  expect(await last).toBeLessThan(4);
  await Promise.all([...before, ...refused]);
});

it('sharers take turns: a request waits for one of those of another at most', async () => {
  const order: string[] = [];
  const done = busy(30).map((work) => work.then(() => order.push('many')));
  const ctx = requestOf();
  ctx.state.identity = { principal: { kind: 'secret', keyId: 'key', tenant: { id: 'ten' } } };
  done.push(waitForTurn(ctx, 'body', LONG).then(() => order.push('one')));
  await Promise.all(done);
  expect(order.indexOf('one')).toBeLessThan(10);
});

it('work that is over takes nothing of its turn', async () => {
  takeTurn(LONG);
  const over = Array.from({ length: 9 }, () => takeTurn(LONG, () => true));
  const next = takeTurn(1);
  let passed = false;
  void next?.then(() => {
    passed = true;
  });
  await turn();
  await turn();
  expect(passed).toBe(true);
  await Promise.all(over);
});

it('the pieces of a large body are received when there is room', async () => {
  const piece = Buffer.alloc(64 * 1024);
  let pieces = 0;
  const req = new Readable({
    highWaterMark: 1,
    read() {
      this.push(pieces < 16 ? piece : null);
      pieces++;
    },
  });
  const ctx = { state: {}, method: 'POST', req, res: { closed: false }, ip: '::1', get: () => '' };
  takeTurn(LONG);
  const read = readBytes(ctx as unknown as Context);
  await new Promise((next) => process.nextTick(next));
  await Promise.resolve();
  expect(pieces).toBeLessThan(4);
  expect((await read).length).toBe(16 * piece.length);
});
