import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { quantile } from '../../scripts/bench/statistics.ts';
import { invoiceBody } from '../../scripts/bench/throughput-invoice.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { doomedServer } from '../support/chaos-server.ts';
import { residentMemory, TELLS_MEMORY } from '../support/resident-memory.ts';
import { runningStore } from '../support/running-store.ts';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 20);
/** The part of the capacity that is offered. */
const LOAD = 0.7;
/** The capacity is measured for this time, of which the first third is not counted, milliseconds. */
const TRIAL_MS = 45_000;
/** Meanwhile so many clients create, as long as not more than `OPEN` invoices have no decision. */
const [CLIENTS, OPEN] = [16, 64];
/** One invoice of this many is followed, and its PDF is read. */
const FOLLOWED = 10;
/** Time after which what was created is ready, however busy the service is, milliseconds. */
const PATIENCE_MS = 60_000;
const LINES = 3;
const EVENTS = ['invoice.signing', 'invoice.transmitted', 'invoice.accepted'];

/** What is measured of a minute. Times are milliseconds, sizes bytes, and memory MiB. */
interface Minute {
  readonly created: number;
  readonly createP50: number;
  readonly createP99: number;
  readonly acceptP50: number;
  readonly acceptP99: number;
  readonly pdfP50: number;
  readonly memory: number;
  readonly fileBytes: number;
  /** Invoices that are not accepted yet at its end. */
  readonly backlog: number;
}

test.skipIf(!TELLS_MEMORY)(
  `${MINUTES} minutes at ${100 * LOAD} % of what the service can do: memory, latencies and bytes an invoice stay as they are`,
  async ({ signal }) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'service-soak-'));
    const unlimited = '1000000000';
    const limits = { RATE_LIMIT_SECRET: unlimited, RATE_LIMIT_ADDRESS: unlimited };
    const server = doomedServer({ DATA_DIR: dataDir, LOG_LEVEL: 'error', ALLOW_INSECURE_WEBHOOKS: 'true', ...limits });
    const receiver = await startCounter();
    signal.addEventListener('abort', () => void server.kill());
    let close = async () => {};
    try {
      await server.start();
      const store = await runningStore(dataDir);
      close = store.close;
      const client = await openClient(await server.url(), server.secretKey(), receiver.url);
      const invoices = store.db.collection<InvoiceDocument>('invoices');
      const whole = async () => {
        const { own, descendants } = await residentMemory(server.pid());
        return own + descendants;
      };

      const { capacity, made: tried } = await measureCapacity(client, receiver);
      const rate = LOAD * capacity;
      console.log(`capacity ${capacity.toFixed(1)} invoices a second, offered ${rate.toFixed(1)}`);

      const minutes: Minute[] = [];
      const failures: Error[] = [];
      const start = performance.now();
      let nth = 0;
      while (minutes.length < MINUTES) {
        const [times, pdfTimes, followed]: [number[], number[], string[]] = [[], [], []];
        const under = new Set<Promise<void>>();
        const end = start + (minutes.length + 1) * 60_000;
        const before = nth;
        for (; performance.now() < end; nth++) {
          const wait = start + (nth * 1000) / rate - performance.now();
          if (wait > 0) await sleep(wait);
          const isFollowed = nth % FOLLOWED === 0;
          const work = client.create().then(async ({ id, ms }) => {
            times.push(ms);
            if (!isFollowed) return;
            followed.push(id);
            pdfTimes.push(await client.readPdf(id));
          });
          under.add(work);
          void work.then(
            () => under.delete(work),
            (error: Error) => failures.push(error),
          );
          if (failures[0]) throw failures[0];
          if (under.size > 1000) throw new Error('the service does not keep up');
        }
        await Promise.all(under);
        const backlog = await invoices.countDocuments({ 'work.lane': 'stages' });
        const accepted = await acceptTimes(store.db, followed);
        minutes.push({
          created: nth - before,
          createP50: quantile(times, 0.5),
          createP99: quantile(times, 0.99),
          acceptP50: quantile(accepted, 0.5),
          acceptP99: quantile(accepted, 0.99),
          pdfP50: quantile(pdfTimes, 0.5),
          memory: await whole(),
          fileBytes: (await stat(join(dataDir, 'db', 'engine.sqlite'))).size,
          backlog,
        });
        console.log(`minute ${minutes.length}: ${shown(minutes.at(-1) as Minute)}`);
      }

      // Everything that was acknowledged comes to its end, once.
      const made = tried + nth;
      await expect.poll(() => invoices.countDocuments({ status: 'accepted' }), { timeout: PATIENCE_MS }).toBe(made);
      await expect.poll(() => receiver.events(), { timeout: PATIENCE_MS }).toBe(made * EVENTS.length);
      expect(server.seen.complaints).toEqual([]);

      const settled = minutes.slice(Math.floor(MINUTES / 4));
      const slopes = Object.fromEntries(
        (['memory', 'createP50', 'createP99', 'acceptP50', 'acceptP99', 'pdfP50'] as const).map((name) => [
          name,
          slope(settled.map((each) => each[name])),
        ]),
      );
      const bytes = settled
        .slice(1)
        .map(({ fileBytes, created }, at) => (fileBytes - (settled[at] as Minute).fileBytes) / created);
      console.log(`slopes a minute, after the first quarter: ${shown(slopes)}`);
      console.log(
        `bytes an invoice, minute by minute: ${bytes.map(Math.round).join(' ')}; slope ${slope(bytes).toFixed(1)}`,
      );
      const rise = (name: 'memory' | 'createP50' | 'acceptP50' | 'pdfP50') => {
        const half = Math.floor(settled.length / 2);
        const of = (part: Minute[]) =>
          quantile(
            part.map((each) => each[name]),
            0.5,
          );
        return of(settled.slice(half)) / of(settled.slice(0, half));
      };
      expect(rise('memory')).toBeLessThan(1.1);
      for (const name of ['createP50', 'acceptP50', 'pdfP50'] as const) expect(rise(name), name).toBeLessThan(1.25);
      expect(Math.abs(slope(bytes)) * settled.length).toBeLessThan(0.15 * quantile(bytes, 0.5));
    } finally {
      await close();
      await server.kill();
      await receiver.close();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    }
  },
  (MINUTES + 10) * 60_000,
);

/**
 * What the service can do all the time, with the same share of PDFs that are read: invoices whose last event comes in a
 * second while others are created.
 */
async function measureCapacity(client: SoakClient, receiver: Counter): Promise<{ capacity: number; made: number }> {
  const start = performance.now();
  let made = 0;
  const decided = () => receiver.events() / EVENTS.length;
  const create = async () => {
    while (performance.now() - start < TRIAL_MS) {
      if (made - decided() >= OPEN) await sleep(2);
      else {
        const isFollowed = made++ % FOLLOWED === 0;
        const { id } = await client.create();
        if (isFollowed) await client.readPdf(id);
      }
    }
  };
  const clients = Array.from({ length: CLIENTS }, create);
  await sleep(TRIAL_MS / 3);
  const [before, since] = [decided(), performance.now()];
  await Promise.all(clients);
  return { capacity: ((decided() - before) * 1000) / (performance.now() - since), made };
}

/** From creation to acceptance, milliseconds. */
async function acceptTimes(db: Db, ids: readonly string[]): Promise<number[]> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const isOpen = { _id: { $in: [...ids] }, status: { $ne: 'accepted' as const } };
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until && (await invoices.countDocuments(isOpen)) > 0) await sleep(200);
  const found = await invoices.find({ _id: { $in: [...ids] } }, { projection: { createdAt: 1, events: 1 } }).toArray();
  return found.map(({ createdAt, events }) => {
    const accepted = events.find(({ status }) => status === 'accepted');
    if (!accepted) throw new Error('an invoice was not accepted');
    return accepted.at.getTime() - createdAt.getTime();
  });
}

type SoakClient = Awaited<ReturnType<typeof openClient>>;

/** Creates an endpoint at `receiver`, then invoices. */
async function openClient(url: string, key: string, receiver: string) {
  const pool = new Pool(url, { connections: 64 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = invoiceBody(LINES);
  async function ask(
    method: 'GET' | 'POST',
    path: string,
    expected: number,
    sent: string | null = null,
  ): Promise<Buffer> {
    const answer = await pool.request({ method, path, headers, body: sent });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    if (answer.statusCode !== expected) throw new Error(`${method} ${path}: ${answer.statusCode} ${bytes}`);
    return bytes;
  }
  await ask('POST', '/v1/webhook_endpoints', 201, JSON.stringify({ url: `${receiver}/hook`, events: EVENTS }));
  return {
    async create(): Promise<{ id: string; ms: number }> {
      const start = performance.now();
      const { id } = JSON.parse((await ask('POST', '/v1/invoices', 201, body)).toString());
      return { id, ms: performance.now() - start };
    },
    /** Waits for the acceptance, then reads the PDF. @returns milliseconds from asking for it until the whole of it was there */
    async readPdf(id: string): Promise<number> {
      const find = async () => JSON.parse((await ask('GET', `/v1/invoices/${id}`, 200)).toString()).pdf_url;
      let address: string | null = await find();
      for (; address === null; address = await find()) await sleep(100);
      const start = performance.now();
      const pdf = await ask('GET', new URL(address).pathname, 200);
      if (pdf.subarray(0, 5).toString() !== '%PDF-') throw new Error(`the PDF of ${id} is none`);
      return performance.now() - start;
    },
  };
}

interface Counter {
  readonly url: string;
  /** Different events that have come. */
  events(): number;
  close(): Promise<void>;
}

/** A receiver that keeps the ids of the events only. */
async function startCounter(): Promise<Counter> {
  const ids = new Set<string>();
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      ids.add(JSON.parse(body).id);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    events: () => ids.size,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** How much a value rises from one to the next, by the least squares. */
function slope(values: readonly number[]): number {
  const mean = (of: readonly number[]) => of.reduce((sum, each) => sum + each, 0) / of.length;
  const [middle, average] = [(values.length - 1) / 2, mean(values)];
  const products = values.reduce((sum, value, at) => sum + (at - middle) * (value - average), 0);
  const squares = values.reduce((sum, _value, at) => sum + (at - middle) ** 2, 0);
  return products / squares;
}

function shown(values: object): string {
  return Object.entries(values)
    .map(
      ([name, value]) => `${name} ${typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(2) : value}`,
    )
    .join(', ');
}
