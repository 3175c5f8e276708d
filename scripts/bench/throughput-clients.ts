import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { serveRequests } from './bench-process.ts';
import type { ClientsAnswer, ClientsRequest, ThroughputService } from './throughput-work.ts';
import { machineMs } from './webhook-work.ts';

// Runs the clients of `throughput` in their own process, so that their CPU time is not the service's.

/** Number of connections, which stay open for a task. */
const CONNECTIONS = 32;
/** Number of PDFs that are requested at the same time: more than the service draws for a tenant. */
const DOWNLOADS = 16;
/** Pause between two reads of an invoice whose PDF is wanted, milliseconds. */
const POLL_MS = 100;

serveRequests<ClientsRequest>(
  async (request) => {
    const pool = new Pool(request.service.url, { connections: CONNECTIONS });
    try {
      return await perform(pool, request);
    } finally {
      await pool.close();
    }
  },
  async () => undefined,
);
process.send?.('ready');

async function perform(pool: Pool, request: ClientsRequest): Promise<ClientsAnswer> {
  const { service, body, count, rate, pdfEvery } = request;
  const latencies: number[] = [];
  const wanted: string[] = [];
  const startedAtMs = machineMs();
  let createdAtMs = 0;

  async function create(nth: number, sentAtMs: number): Promise<void> {
    const { id } = await answered<{ id: string }>(pool, service, 'POST', '/v1/invoices', 201, body);
    latencies.push(machineMs() - sentAtMs);
    if (pdfEvery > 0 && nth % pdfEvery === 0) wanted.push(id);
  }

  async function closedLoop(): Promise<void> {
    let next = 0;
    await severally(CONNECTIONS, async () => {
      for (let nth = next++; nth < count; nth = next++) await create(nth, machineMs());
    });
  }

  /**
   * Measures from the time at which a request should be sent, so that a late answer does not delay later measurements.
   */
  async function openLoop(perSecond: number): Promise<void> {
    const sent: Promise<void>[] = [];
    for (let nth = 0; nth < count; nth++) {
      const dueAtMs = startedAtMs + (nth * 1000) / perSecond;
      const waitMs = dueAtMs - machineMs();
      if (waitMs > 0) await sleep(waitMs);
      sent.push(create(nth, dueAtMs));
    }
    await Promise.all(sent);
  }

  /** Downloads the wanted PDFs in the order of creation until all invoices are created. */
  async function downloadAll(): Promise<void> {
    while (createdAtMs === 0 || wanted.length > 0) {
      const id = wanted.shift();
      if (id === undefined) await sleep(POLL_MS);
      else await download(pool, service, id);
    }
  }

  const downloads = pdfEvery > 0 ? severally(DOWNLOADS, downloadAll) : Promise.resolve();
  await (rate === null ? closedLoop() : openLoop(rate));
  createdAtMs = machineMs();
  await downloads;
  return { startedAtMs, createdAtMs, downloadedAtMs: pdfEvery > 0 ? machineMs() : createdAtMs, latencies };
}

const severally = (times: number, work: () => Promise<void>) =>
  Promise.all(Array.from({ length: times }, work)).then(() => undefined);

async function download(pool: Pool, service: ThroughputService, id: string): Promise<void> {
  for (;;) {
    const { status, pdf_url } = await answered<{ status: string; pdf_url: string | null }>(
      pool,
      service,
      'GET',
      `/v1/invoices/${id}`,
      200,
    );
    if (status === 'rejected') throw new Error(`invoice ${id} was rejected`);
    if (status === 'accepted' && pdf_url !== null && (await isDownloaded(pool, pdf_url))) return;
    await sleep(POLL_MS);
  }
}

/** @returns false when the PDF is still missing after the service's wait */
async function isDownloaded(pool: Pool, url: string): Promise<boolean> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: new URL(url).pathname });
  const bytes = Buffer.from(await body.arrayBuffer());
  if (statusCode === 503) return false;
  if (statusCode !== 200 || bytes.subarray(0, 5).toString() !== '%PDF-')
    throw new Error(`${url} was answered ${statusCode} without a PDF`);
  return true;
}

async function answered<T>(
  pool: Pool,
  { secretKey }: ThroughputService,
  method: 'GET' | 'POST',
  path: string,
  expected: number,
  body?: string,
): Promise<T> {
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' };
  const answer = await pool.request({ method, path, headers, ...(body !== undefined && { body }) });
  const text = await answer.body.text();
  if (answer.statusCode !== expected)
    throw new Error(`${method} ${path} was answered ${answer.statusCode}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as T;
}
