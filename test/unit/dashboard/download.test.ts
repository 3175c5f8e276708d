import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Download, type Progress } from '../../../src/dashboard/periods/download.ts';

const BYTES = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));

let server: Server;
let address: string;
let answer: RequestListener;
const asked: IncomingMessage[] = [];

beforeEach(async () => {
  // Waits between attempts last a browser's `online` event here.
  vi.stubGlobal('addEventListener', (_name: string, listener: () => void) => setTimeout(listener, 1));
  vi.stubGlobal('removeEventListener', () => undefined);
  asked.length = 0;
  server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(async () => {
  vi.unstubAllGlobals();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Answers with the rest of the file from the range on, as the service does, and breaks off after so many bytes. */
function send({ headers }: IncomingMessage, response: ServerResponse, bytes = BYTES.length, etag = '"1"'): void {
  const from = headers['if-range'] === etag ? Number(/\d+/.exec(String(headers.range))?.[0] ?? 0) : 0;
  response.writeHead(from > 0 ? 206 : 200, {
    ETag: etag,
    'Content-Length': BYTES.length - from,
    'Fatoura-Documents': '10',
  });
  const part = BYTES.subarray(from, from + bytes);
  response.write(part, () => (from + part.length === BYTES.length ? response.end() : response.destroy()));
}

async function run(download: Download, signal = new AbortController().signal) {
  const told: Progress[] = [];
  const outcome = await download.run({ headers: { 'X-Own': '1' }, onProgress: (each) => told.push(each), signal });
  const bytes = 'file' in outcome ? Buffer.from(await outcome.file.arrayBuffer()) : null;
  return { outcome, bytes, told };
}

it('a download goes on where its connection failed', async () => {
  answer = (request, response) => send(request, response, 30_000);
  const { bytes, told } = await run(new Download(address));
  expect(bytes?.equals(BYTES)).toBe(true);
  const ranges = asked.map(({ headers }) => [headers.range, headers['if-range'], headers['x-own']]);
  expect(ranges[0]).toEqual([undefined, undefined, '1']);
  expect(ranges.length).toBeGreaterThanOrEqual(4);
  for (const [range, condition] of ranges.slice(1))
    expect([range, condition]).toEqual([expect.stringMatching(/^bytes=\d+-$/), '"1"']);
  expect(told.at(-1)).toEqual({ state: 'received', done: 10, all: 10 });
  expect(told.some((each) => each.state === 'received' && each.done < 10)).toBe(true);
});

it('a file that has changed meanwhile is received anew', async () => {
  answer = (request, response) =>
    asked.length === 1 ? send(request, response, 30_000) : send(request, response, BYTES.length, '"2"');
  expect((await run(new Download(address))).bytes?.equals(BYTES)).toBe(true);
});

it('a download that failed goes on when it is run again', async () => {
  let isAway = false;
  answer = (request, response) => {
    if (isAway) return void response.destroy();
    isAway = true;
    send(request, response, 30_000);
  };
  const download = new Download(address);
  expect((await run(download)).outcome).toEqual({ problem: 'interrupted' });
  answer = send;
  const { bytes } = await run(download);
  expect(bytes?.equals(BYTES)).toBe(true);
  expect(asked.at(-1)?.headers['if-range']).toBe('"1"');
});

it('documents that are made are waited for, as long as more become ready', async () => {
  const incomplete = [7, 4, 2];
  answer = (request, response) => {
    const left = incomplete.shift();
    if (left === undefined) return send(request, response);
    response.writeHead(503, {
      'Retry-After': '0',
      'Fatoura-Documents': '10',
      'Fatoura-Incomplete-Documents': String(left),
    });
    response.end();
  };
  const { bytes, told } = await run(new Download(address));
  expect(bytes?.equals(BYTES)).toBe(true);
  expect(told.filter(({ state }) => state === 'ready')).toEqual(
    [3, 6, 8].map((done) => ({ state: 'ready', done, all: 10 })),
  );
  incomplete.push(5, 5, 5, 5);
  expect((await run(new Download(address))).outcome).toEqual({ problem: 'lacking' });
});

it('a download ends when it is stopped, refused, or nobody is signed in', async () => {
  for (const [status, problem] of [
    [400, 'tooMany'],
    [401, 'signedOut'],
    [403, 'refused'],
    [404, 'refused'],
  ] as const) {
    answer = (_, response) => response.writeHead(status).end();
    expect((await run(new Download(address))).outcome).toEqual({ problem });
  }
  const stop = new AbortController();
  answer = (request, response) => {
    response.writeHead(200, { 'Content-Length': '10' });
    response.write('1', () => stop.abort());
    expect(request.method).toBe('GET');
  };
  expect((await run(new Download(address), stop.signal)).outcome).toEqual({ problem: 'stopped' });
});

it.each([
  [429, 'busy'],
  [500, 'interrupted'],
  [502, 'interrupted'],
  [503, 'interrupted'],
] as const)('a download ends when the service only answers %i', async (status, problem) => {
  answer = (_, response) => response.writeHead(status, { 'Retry-After': '0' }).end();
  expect((await run(new Download(address))).outcome).toEqual({ problem });
  expect(asked).toHaveLength(5);
});

it('a download goes on after a few failures of the service', async () => {
  const failures = [429, 502, 500, 503];
  answer = (request, response) => {
    const status = failures.shift();
    if (status === undefined) return send(request, response);
    response.writeHead(status, { 'Retry-After': '0' }).end();
  };
  expect((await run(new Download(address))).bytes?.equals(BYTES)).toBe(true);
});
