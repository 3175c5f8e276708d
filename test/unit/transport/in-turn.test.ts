import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Principal } from '../../../src/domain/principal.ts';
import { InTurn, once } from '../../../src/transport/in-turn.ts';
import { Reader } from '../../../src/transport/stream-reservations.ts';
import { createUnreadAnswers } from '../../../src/transport/unread-answers.ts';

const PRINCIPAL = { kind: 'secret', keyId: 'key_1', tenant: { id: 'ten_1' } } as Principal;

/** A stream whose client reads one result when the test says so. */
function slowStream() {
  let unread = Promise.withResolvers<void>();
  unread.resolve();
  const stream = {
    isOver: false,
    ready: () => unread.promise,
    end: () => undefined,
    reset: () => undefined,
  };
  return {
    stream,
    written() {
      unread = Promise.withResolvers();
    },
    read: () => unread.resolve(),
  };
}

/** Requests all results, as graphql-sse does. */
async function consume(results: AsyncIterable<unknown>, onResult: () => void): Promise<void> {
  for await (const _ of results) onResult();
}

async function* endless(): AsyncGenerator<undefined> {
  for (;;) yield undefined;
}

it.each([
  ['operations', once],
  ['events of subscriptions', endless],
])('a result of 100 %s is made when the client has read the one before', async (_, events) => {
  const unread = createUnreadAnswers();
  const reader = new Reader(PRINCIPAL, unread);
  const { stream, written, read } = slowStream();
  let made = 0;
  const all = Array.from({ length: 100 }, () => {
    const results = new InTurn(events(), reader, () => ++made, 10);
    return { results, consumed: consume(results, written) };
  });
  await turnOfLoop();
  expect([made, unread.bytes]).toEqual([0, 1000]);
  reader.open(stream);
  for (let nth = 1; nth <= 5; nth++) {
    for (let more = 0; more < 5; more++) await turnOfLoop();
    expect(made).toBe(nth);
    read();
  }
  stream.isOver = true;
  for (const { results } of all) await results.return();
  await Promise.all(all.map(({ consumed }) => consumed));
  expect([made, unread.bytes]).toEqual([5, 0]);
});

it('what waits for a reader that never comes is never made', async () => {
  const unread = createUnreadAnswers();
  const reader = new Reader(PRINCIPAL, unread);
  let made = 0;
  const waiting = Array.from({ length: 3 }, () => new InTurn(once(), reader, () => ++made, 10).next());
  await turnOfLoop();
  expect(unread.bytes).toBe(30);
  reader.open(null);
  expect((await Promise.all(waiting)).map(({ done }) => done)).toEqual([true, true, true]);
  expect([made, unread.bytes]).toEqual([0, 0]);
});
