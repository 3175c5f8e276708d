import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandStartedEvent } from 'mongodb';
import { type App, startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { PLACEMENTS } from '../../src/storage/collection-rules.ts';
import { type Routed, routesOf } from '../../test/support/shard-routing.ts';
import type { Benchmark, Measured, Settings } from './harness.ts';
import { invoiceBody } from './throughput-invoice.ts';

/** Requests at a time. */
const CLIENTS = 32;
/** Pause between two looks at whether all invoices are done, milliseconds. */
const POLL_MS = 100;
/** Marks this file's own commands, which are not counted. */
const OWN = { comment: 'bench' } as const;
/** The PDF that costs nothing. */
const EMPTY_PDF = Buffer.from('%PDF-1.7\n%%EOF\n');
/**
 * The collections with the data of an invoice that is kept as long as its documents. The mock authority's ledger stands
 * in for `authority_ledger`, which has live invoices only.
 */
const KEPT = [
  'invoices',
  'invoice_numbers',
  'documents.files',
  'documents.chunks',
  'authority_ledger',
  'mock_submissions',
];
/** The collections with data that is kept for `WEBHOOK_RETENTION`. */
const EXPIRING = ['webhook_events', 'webhook_deliveries', 'webhook_attempts'];

/** A service whose statements are routed as by mongos. */
class Cluster {
  readonly #app: App;
  readonly #dataDir: string;
  readonly #routed: Routed[] = [];

  constructor(app: App, dataDir: string) {
    this.#app = app;
    this.#dataDir = dataDir;
    app.store.client.on('commandStarted', (event: CommandStartedEvent) => {
      if (event.command.comment !== OWN.comment) this.#routed.push(...routesOf(event, PLACEMENTS));
    });
  }

  static async start(): Promise<Cluster> {
    const dataDir = await mkdtemp(join(tmpdir(), 'cluster-'));
    const limits = { RATE_LIMIT_SECRET: '1000000000', RATE_LIMIT_ADDRESS: '1000000000' };
    const config = readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error', ...limits });
    const renderer = {
      render: async () => EMPTY_PDF,
      draw: async () => EMPTY_PDF,
      warm: async () => undefined,
      close: async () => undefined,
    };
    return new Cluster(await startApp(config, { monitorCommands: true, renderer }), dataDir);
  }

  /** Creates invoices and waits until nothing is left to do. @throws if a creation is refused */
  async create(count: number, lines: number): Promise<void> {
    const { url, firstStart } = this.#app;
    const headers = { Authorization: `Bearer ${firstStart.demo?.secretKey}`, 'Content-Type': 'application/json' };
    const [body, invoices] = [invoiceBody(lines), this.#app.store.db.collection('invoices')];
    let left = count;
    const client = async () => {
      while (left-- > 0) {
        const answer = await fetch(`${url}/v1/invoices`, { method: 'POST', headers, body });
        if (answer.status !== 201) throw new Error(`creation was answered ${answer.status} ${await answer.text()}`);
        await answer.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    while ((await invoices.countDocuments({ work: { $exists: true } }, OWN)) > 0) await sleep(POLL_MS);
  }

  /** The routes since the last call. */
  routes(): Routed[] {
    return this.#routed.splice(0);
  }

  /** The bytes of all documents in these collections, indexes and compression left out. */
  async storedBytes(collections: readonly string[]): Promise<number> {
    let bytes = 0;
    for (const name of collections) {
      const found = this.#app.store.db.collection(name).find({}, { ...OWN, raw: true });
      for await (const document of found) bytes += (document as unknown as Uint8Array).length;
    }
    return bytes;
  }

  async close(): Promise<void> {
    await this.#app.close();
    await rm(this.#dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

let cluster: Cluster | null = null;

async function run({ quick, lines }: Settings): Promise<Measured> {
  if (!cluster) throw new Error('the service is not open');
  const count = quick ? 100 : 600;
  const before = [await cluster.storedBytes(KEPT), await cluster.storedBytes(EXPIRING)] as const;
  cluster.routes();
  await cluster.create(count, lines);
  const routes = cluster.routes();
  const on = (route: Routed['route']) => routes.filter((each) => each.route === route);
  const several = on('targeted').filter(({ keys }) => keys > 1);
  const kib = (bytes: number) => bytes / count / 1024;
  return {
    counts: {
      'statements an invoice with one shard key': (on('targeted').length - several.length) / count,
      'statements an invoice with several shard keys': several.length / count,
      'shard keys an invoice in these': several.reduce((sum, { keys }) => sum + keys, 0) / count,
      'statements an invoice in whole collections': on('whole').length / count,
      'statements an invoice to every shard': on('scattered').length / count,
      'stored KiB an invoice, for good': kib((await cluster.storedBytes(KEPT)) - before[0]),
      'stored KiB an invoice, for a time': kib((await cluster.storedBytes(EXPIRING)) - before[1]),
    },
  };
}

/**
 * The load of an accepted invoice on a cluster, by the placements of `src/storage/collection-rules.ts`: the statements
 * that go to the shard of a key, to the shards of several keys, to the shard with the whole collection, and to every
 * shard, and the bytes that are stored. Each document of a group counts as a statement. Timed searches count with the
 * invoices of their time. A PDF costs nothing and has 15 bytes.
 */
export const benchmark: Benchmark = {
  name: 'cluster',
  about: 'statements and stored bytes of accepted invoices, by the shards that they need',
  sides: [
    {
      name: 'ours',
      open: async () => {
        cluster = await Cluster.start();
      },
      run,
      close: async () => cluster?.close(),
    },
  ],
  answers: 'incomparable',
  repeats: 2,
  warmups: 1,
};
