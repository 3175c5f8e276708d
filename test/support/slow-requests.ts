import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/domain/limits.ts';
import { answering } from './authority.ts';
import { Client, invoiceBody } from './client.ts';
import { DOCUMENT } from './contract.ts';
import { longestTurn } from './longest-turn.ts';
import { sendRaw } from './raw-http.ts';
import { startService, type TestService, type TestTenant } from './service.ts';
import { slowness } from './slowness.ts';

/** Maximum time that a request may block the event loop of an ordinary machine, milliseconds of CPU. */
const MOST_MS = 50;
/** Number of tries of a request. The first ones compile code, and collect garbage of others. */
const TRIES = 4;
/** Bytes of a text in a head of 16 KiB, and in a body besides its other parts. */
export const [IN_HEAD, IN_BODY] = [14_000, MAX_BODY_BYTES - 3000];
/** Time limit in milliseconds. Thousands of requests take minutes on a loaded machine. */
export const PATIENCE_MS = 600_000;

/** A request, sent unchanged. */
export interface Attempt {
  readonly what: string;
  readonly line: string;
  readonly headers?: readonly string[];
  /** Split into parts if one of them is long and occurs in many requests. */
  readonly body?: string | readonly string[];
}

/** A service that receives long texts, with a tenant that has an invoice and an endpoint. */
export interface Target {
  readonly service: TestService;
  readonly tenant: TestTenant;
  readonly ids: { readonly inv: string; readonly we: string };
  /** The header of the tenant's secret key. */
  readonly bearer: string;
  /**
   * The attempts that hold the loop too long in the best of several tries, with the time and the answer's status, and
   * those that the service fails at.
   */
  slowOf(attempts: Iterable<Attempt>): Promise<string[]>;
}

/** With an authority, so that the service reads its callbacks. */
const LIVE = { authority: answering({}), callbackSecret: `whsec_${randomBytes(32).toString('base64')}` };

/** Starts the service as if behind a proxy, so that it reads a proxy's headers. Each request has its own address. */
export async function startTarget(): Promise<Target> {
  const service = await startService({ RATE_LIMIT_ADDRESS: '1000000', TRUST_PROXY: '1' }, undefined, false, LIVE);
  const tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
  const url = 'https://example.invalid/';
  const endpoint = (await client.post('/v1/webhook_endpoints', { url, events: ['invoice.accepted'] })).body;
  await client.settled(id);
  return {
    service,
    tenant,
    ids: { inv: id, we: endpoint.id },
    bearer: `Authorization: Bearer ${tenant.secretKey}`,
    slowOf: (attempts) => slowOf(service.url, attempts),
  };
}

let addresses = 0;

/** The bytes of long texts, made once: if each request made them, collecting this garbage would be measured, too. */
const bytesOfLong = new Map<string, Buffer>();
const LONG = 10_000;

function bytesOfText(text: string): Buffer {
  if (text.length < LONG) return Buffer.from(text);
  const bytes = bytesOfLong.get(text) ?? Buffer.from(text);
  bytesOfLong.set(text, bytes);
  return bytes;
}

function partsOf(url: string, { line, headers = [], body }: Attempt): Buffer[] {
  const content = typeof body === 'object' ? body.map(bytesOfText) : body === undefined ? [] : [Buffer.from(body)];
  const has = (name: string) => headers.some((each) => each.toLowerCase().startsWith(`${name}:`));
  const lines = [
    `${line} HTTP/1.1`,
    ...(has('host') ? [] : [`Host: ${new URL(url).host}`]),
    ...(has('x-forwarded-for') ? [] : [`X-Forwarded-For: 10.${++addresses >> 8}.${addresses & 255}.1`]),
    'Connection: close',
    ...headers,
    ...(body !== undefined && !has('content-type') ? ['Content-Type: application/json'] : []),
    ...(body !== undefined ? [`Content-Length: ${content.reduce((sum, { length }) => sum + length, 0)}`] : []),
  ];
  return [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), ...content];
}

async function slowOf(url: string, attempts: Iterable<Attempt>): Promise<string[]> {
  const slow: string[] = [];
  let [longest, which] = [0, ''];
  let count = 0;
  const begin = performance.now();
  for (const attempt of attempts) {
    let best = Number.POSITIVE_INFINITY;
    let status = 0;
    let most = MOST_MS;
    // A request that takes ten times the limit does not do so by chance.
    for (let left = TRIES; left > 0 && best > most && (left === TRIES || best < 10 * MOST_MS); left--) {
      const parts = partsOf(url, attempt);
      const turn = await longestTurn(async () => {
        status = (await sendRaw(url, ...parts)).status;
      });
      best = Math.min(best, turn);
      if (best > MOST_MS) most = MOST_MS * (await slowness());
    }
    count++;
    if (best > longest) [longest, which] = [best, attempt.what];
    if (best > most) slow.push(`${attempt.what}: ${Math.round(best)} ms (${status})`);
    // 503 is the answer to too many requests at the same time.
    if (status >= 500 && status !== 503) slow.push(`${attempt.what}: ${status}`);
    // Without an answer, nothing would have been measured.
    if (!status) slow.push(`${attempt.what}: no answer`);
  }
  for (const each of slow) console.info(each);
  console.info(
    `${count} requests in ${Math.round((performance.now() - begin) / 1000)} s; the longest turn took ${Math.round(longest)} ms: ${which}`,
  );
  expect(count).toBeGreaterThan(0);
  return slow;
}

/** Returns the paths in the source of the transport, with their parameters as `:name`. */
export async function knownPaths(): Promise<string[]> {
  const source = await sourceOfTransport();
  const found = [...source.matchAll(/'(\/[a-z][\w/:.-]*)'/g)].map(([, path = '']) => path);
  return [...new Set([...found, ...Object.keys(DOCUMENT.paths).map((path) => path.replace('{id}', ':id'))])];
}

/** Returns the text of all files of the transport. */
export async function sourceOfTransport(): Promise<string> {
  const folder = join(import.meta.dirname, '../../src/transport');
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  return (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
}
