import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { documentOf } from '../../src/storage/invoice-document.ts';
import { seriesKey } from '../../src/storage/invoice-numbers.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startCommandLine } from '../support/command-line.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { startService, type TestService } from '../support/service.ts';

// A tenant with 100,000 invoices, half of them live, is erased beside the load of another one; its command is killed once.

const INVOICES = Number(process.env.ERASED_INVOICES ?? 100_000);
const GROUP = 500;
const XML = Buffer.alloc(4000, '<cbc:ID>1</cbc:ID>');
/** Time between two creations of the other tenant, milliseconds. */
const EVERY_MS = 50;
const BEFORE_MS = 60_000;
const KILLED_MS = 10_000;

let service: TestService;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'erase-long-'));
  service = await startService({ DATA_DIR: dataDir });
});
afterAll(async () => {
  await service.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Stores accepted invoices, each with its number, XML, PDF and two events. */
async function storeInvoices(db: Db, tenantId: string, environment: 'live' | 'test', count: number): Promise<void> {
  const add = (name: string, documents: object[]) => db.collection(name).insertMany(documents, { ordered: false });
  const sha256 = createHash('sha256').update(XML).digest('hex');
  for (let stored = 0; stored < count; stored += GROUP) {
    const invoices = Array.from({ length: GROUP }, (_, n) => {
      const file = () => ({ file: new ObjectId().toHexString(), sha256, size: XML.length });
      const facts = { tenantId, environment, status: 'accepted', dgiId: 'DGI-1', work: null } as const;
      const invoice = pendingInvoice({ ...facts, xml: file(), pdf: file() });
      const series = { name: '2026', serial: stored + n + 1 };
      return { ...documentOf(invoice, newCreationMoment().order, null), series };
    });
    await add('invoices', invoices);
    const numbers = invoices.map(({ _id, series }) => ({
      _id: seriesKey({ tenantId, environment }, series),
      invoiceId: _id,
    }));
    await add('invoice_numbers', numbers);
    const files = invoices.flatMap(({ _id, xml, pdf }) =>
      (['xml', 'pdf'] as const).map((kind) => ({
        _id: new ObjectId((kind === 'xml' ? xml : pdf)?.file),
        filename: `${_id}.${kind}`,
        length: XML.length,
        chunkSize: 4 * 1024 * 1024,
        uploadDate: new Date(),
      })),
    );
    await add(
      'documents.chunks',
      files.map(({ _id }) => ({ files_id: _id, n: 0, data: XML })),
    );
    await add('documents.files', files);
    const events = invoices.flatMap(({ _id }) =>
      [1, 2].map(() => {
        const { order } = newCreationMoment();
        return { _id: newId('evt'), tenantId, environment, invoiceId: _id, order, place: order, storedAt: new Date() };
      }),
    );
    await add('webhook_events', events);
  }
}

/** Creates an invoice at fixed times, whether or not the last one was answered. @returns the times of the answers, ms */
async function loaded(client: Client, until: () => boolean): Promise<number[]> {
  const took: number[] = [];
  const open: Promise<void>[] = [];
  for (let at = performance.now(); !until(); at += EVERY_MS) {
    await sleep(Math.max(0, at - performance.now()));
    const planned = at;
    open.push(
      client.post('/v1/invoices', invoiceBody()).then(({ status }) => {
        expect(status).toBe(201);
        took.push(performance.now() - planned);
      }),
    );
  }
  await Promise.all(open);
  return took;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0);
}

const show = (took: readonly number[]) =>
  `${took.length} created, p50 ${percentile(took, 0.5)} ms, p99 ${percentile(took, 0.99)} ms, most ${percentile(took, 1)} ms`;

it(`a tenant with ${INVOICES} invoices is erased, and the other one notices nothing`, async () => {
  const { db } = service.app.store;
  const [own, neighbour] = [await service.tenant(), await service.tenant()];
  for (const environment of ['live', 'test'] as const) await storeInvoices(db, own.id, environment, INVOICES / 2);
  const client = new Client(service.url, neighbour.secretKey);
  // The first requests compile.
  const warm = performance.now() + 10_000;
  const first = await loaded(client, () => performance.now() > warm);

  const end = performance.now() + BEFORE_MS;
  const before = await loaded(client, () => performance.now() > end);
  console.log(`before: ${show(before)}`);

  const args = ['tenants', 'erase', own.id, '--confirm', own.id, '--json'];
  let isOver = false;
  const began = performance.now();
  const erasing = (async () => {
    const killed = startCommandLine(args, { DATA_DIR: dataDir });
    await sleep(KILLED_MS);
    killed.kill('SIGKILL');
    await once(killed, 'close');
    const second = startCommandLine(args, { DATA_DIR: dataDir });
    let out = '';
    second.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    const [code] = await once(second, 'close');
    expect(code).toBe(0);
    return JSON.parse(out) as unknown;
  })().finally(() => {
    isOver = true;
  });
  const during = await loaded(client, () => isOver);
  expect(await erasing).toEqual({
    tenant: own.id,
    done: true,
    under_way: 0,
    retained: INVOICES / 2,
    waiting_for_operator: [],
  });
  console.log(
    `while ${INVOICES} invoices were erased in ${Math.round((performance.now() - began) / 1000)} s: ${show(during)}`,
  );

  const left = async (name: string, filter: object) => db.collection(name).countDocuments(filter);
  expect(await left('invoices', { tenantId: own.id })).toBe(0);
  expect(await left('webhook_events', { tenantId: own.id })).toBe(0);
  expect(await left('kept_invoices', { tenantId: own.id })).toBe(INVOICES / 2);
  expect(await left('invoices', { tenantId: neighbour.id })).toBe(first.length + before.length + during.length);
  expect(percentile(during, 0.99)).toBeLessThan(1.5 * percentile(before, 0.99) + 50);
});
