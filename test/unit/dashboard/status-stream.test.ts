import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type FollowedInvoice, openStatusStream } from '../../../src/dashboard/invoice/status-stream.ts';

type Sent = { invoices: FollowedInvoice[] };
let sent: Sent[];
/** The answers to the next requests. */
let answers: (() => Response)[];

beforeEach(() => {
  vi.useFakeTimers();
  [sent, answers] = [[], []];
  // What browsers have and Node has not.
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  vi.stubGlobal('fetch', async (_path: string, init: RequestInit) => {
    sent.push(JSON.parse(String(init.body)));
    const answer = answers.shift();
    if (!answer) throw new TypeError('Failed to fetch');
    return answer();
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** An answer with these messages, which then ends, or stays open in silence. */
const streamOf = (messages: object[], isOpen: boolean) => () =>
  new Response(
    new ReadableStream({
      start(controller) {
        const text = messages.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('');
        // Cut within a message.
        for (const part of [`:\n\n${text.slice(0, 7)}`, text.slice(7)])
          controller.enqueue(new TextEncoder().encode(part));
        if (!isOpen) controller.close();
      },
    }),
  );

function follow(ids: string[]) {
  const invoices = new Map(ids.map((id) => [id, { id, token: `${id}_secret_x`, after: null as string | null }]));
  const told: unknown[] = [];
  const close = openStatusStream(invoices, {
    connected: (keys) => told.push(['connected', ...keys]),
    lost: (keys) => told.push(['lost', ...keys]),
    changed: (key, eventId) => told.push(['changed', key, eventId]),
    refused: (key) => told.push(['refused', key]),
  });
  return { told, close };
}

it('goes on behind the last event after an end and after a silence, without what is final or refused', async () => {
  answers = [
    streamOf(
      [
        { n: 1, eventId: 'e1', status: 'signing' },
        { n: 0, eventId: 'e2', status: 'accepted' },
        { n: 2, refused: true },
      ],
      false,
    ),
    streamOf([{ n: 0, eventId: 'e3', status: 'transmitted' }], true),
    streamOf([{ n: 0, eventId: 'e4', status: 'rejected' }], false),
  ];
  const { told } = follow(['a', 'b', 'c']);
  await vi.advanceTimersByTimeAsync(2000);
  expect(sent.map(({ invoices }) => invoices.map(({ id, after }) => [id, after]))).toEqual([
    [
      ['a', null],
      ['b', null],
      ['c', null],
    ],
    [['b', 'e1']],
  ]);
  // Three heartbeats are missed.
  await vi.advanceTimersByTimeAsync(55_000);
  expect(sent[2]?.invoices).toEqual([{ id: 'b', token: 'b_secret_x', after: 'e3' }]);
  expect(told).toEqual([
    ['connected', 'a', 'b', 'c'],
    ['changed', 'b', 'e1'],
    ['changed', 'a', 'e2'],
    ['refused', 'c'],
    ['lost', 'a', 'b', 'c'],
    ['connected', 'b'],
    ['changed', 'b', 'e3'],
    ['lost', 'b'],
    ['connected', 'b'],
    ['changed', 'b', 'e4'],
  ]);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(sent).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});

it('follows one that must wait when it may, and loses nothing of the others until then', async () => {
  answers = [
    streamOf(
      [
        { n: 1, later: 30 },
        { n: 0, eventId: 'e1', status: 'signing' },
      ],
      true,
    ),
    streamOf([{ n: 1, eventId: 'e2', status: 'signing' }], true),
  ];
  const { told, close } = follow(['a', 'b']);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(told).toEqual([
    ['connected', 'a', 'b'],
    ['lost', 'b'],
    ['changed', 'a', 'e1'],
  ]);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2000);
  expect(told.slice(3)).toEqual([
    ['connected', 'a', 'b'],
    ['changed', 'b', 'e2'],
  ]);
  expect(sent[1]?.invoices.map(({ id, after }) => [id, after])).toEqual([
    ['a', 'e1'],
    ['b', null],
  ]);
  close();
  await vi.advanceTimersByTimeAsync(300_000);
  expect(sent).toHaveLength(2);
  expect(vi.getTimerCount()).toBe(0);
});

it('tries again while the service is away, and ends when it refuses every token', async () => {
  const { told } = follow(['a']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent.length).toBeGreaterThan(3);
  expect(sent.length).toBeLessThan(20);
  answers = Array(20).fill(() => new Response(null, { status: 401 }));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(told.at(-1)).toEqual(['refused', 'a']);
  const requests = sent.length;
  await vi.advanceTimersByTimeAsync(300_000);
  expect(sent).toHaveLength(requests);
});

it('ends when it is closed', async () => {
  answers = [streamOf([], true)];
  const { told, close } = follow(['a']);
  await vi.advanceTimersByTimeAsync(10);
  close();
  await vi.advanceTimersByTimeAsync(300_000);
  expect(told).toEqual([['connected', 'a']]);
  expect(sent).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
