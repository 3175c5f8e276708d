import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { administrationOf } from '../../src/app/administration.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { chaosSeed } from '../support/chaos.ts';
import { type DoomedServer, doomedServer } from '../support/chaos-server.ts';
import { invoiceBody } from '../support/client.ts';
import { fileOf, runImportKills, textsOf } from '../support/import-kills.ts';
import { residentMemory, TELLS_MEMORY } from '../support/resident-memory.ts';
import { runningStore } from '../support/running-store.ts';

const [INVOICES, LINES] = [5000, 3];
/** Creations of another tenant: pause between two, milliseconds, and how many are made before the import. */
const [PAUSE_MS, BEFORE] = [50, 150];
/** How long the issued invoices are processed beside the other tenant, milliseconds: that takes minutes. */
const PROCESSING_MS = 30_000;
/** Creations at full speed before all: memory is compared with that of a service that has had a burst. */
const [BURST, CLIENTS] = [1000, 16];

test('kill -9 ten times while 5,000 invoices are imported issues each once', async ({ signal }) => {
  const seed = chaosSeed();
  const outcome = await runImportKills({
    seed,
    invoices: INVOICES,
    lines: LINES,
    kills: 10,
    patienceMs: 300_000,
    signal,
  });
  console.log(`killed with ${outcome.issuedAtKills.join(', ')} of ${INVOICES} issued`);
  expect(outcome.texts).toEqual(textsOf(INVOICES));
  expect(outcome.byNumber).toEqual(textsOf(INVOICES));
  expect(outcome.counts).toMatchObject({ invoices: INVOICES, issued: INVOICES, ready: 0, accepted: INVOICES });
  expect(outcome.complaints).toEqual([]);
}, 900_000);

test('5,000 invoices of 3 lines take at most a minute and 150 MB, and delay others’ creations little', async ({
  signal,
}) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'imports-'));
  const server = doomedServer({
    CHROMIUM_PATH: '/nonexistent',
    LOG_LEVEL: 'error',
    DATA_DIR: dataDir,
    RATE_LIMIT_SECRET: '1000000',
    RATE_LIMIT_TENANT: '1000000',
  });
  signal.addEventListener('abort', () => void server.kill());
  try {
    await server.start();
    const url = await server.url();
    const own = { Authorization: `Bearer ${server.secretKey()}` };
    const others = await otherTenant(dataDir);
    const graphql = async <Data>(query: string): Promise<Data> => {
      const headers = { ...own, 'Content-Type': 'application/json' };
      const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
      return ((await response.json()) as { data: Data }).data;
    };

    let most = 0;
    const look = async () => {
      most = Math.max(most, (await residentMemory(server.pid())).own);
    };
    const burst = Array.from({ length: CLIENTS }, async () => {
      for (let n = 0; n < BURST / CLIENTS; n++) await createOne(server, others).then(look);
    });
    await Promise.all(burst);
    const rested: number[] = [];
    for (let n = 0; n < BEFORE; n++) {
      await sleep(PAUSE_MS);
      rested.push(await createOne(server, others));
      await look();
    }
    const memoryBefore = most;
    const meanwhile = { checking: [] as number[], issuing: [] as number[], processing: [] as number[] };
    let phase: keyof typeof meanwhile | null = 'checking';
    const watching = (async () => {
      while (phase) {
        const during = meanwhile[phase];
        during.push(await createOne(server, others));
        await look();
        await sleep(PAUSE_MS);
      }
    })();

    const startedAt = performance.now();
    const sent = await fetch(`${url}/imports?name=a.csv`, {
      method: 'POST',
      headers: own,
      body: fileOf(INVOICES, LINES),
    });
    const { id } = (await sent.json()) as { id: string };
    const read = async () =>
      (await graphql<{ import: Facts }>(`{ import(id: "${id}") { status counts { ready issued accepted } } }`)).import;
    while ((await read()).status !== 'checked') await sleep(100);
    const checkedMs = performance.now() - startedAt;
    phase = 'issuing';
    await graphql(`mutation { startImport(id: "${id}") { __typename } }`);
    let facts = await read();
    for (; facts.status !== 'done'; facts = await read()) await sleep(100);
    const doneMs = performance.now() - startedAt;
    phase = 'processing';
    await sleep(PROCESSING_MS);
    phase = null;
    await watching;

    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
    console.log(
      `checked after ${seconds(checkedMs)}, issued after ${seconds(doneMs)}; ` +
        `${most - memoryBefore} MB more; a creation of others ${median(rested).toFixed(1)} ms alone`,
    );
    const times = Object.entries(meanwhile).map(([during, all]) => [during, median(all) / median(rested)] as const);
    for (const [during, ratio] of times) console.log(`${ratio.toFixed(2)} times slower during ${during}`);
    expect(facts.counts).toMatchObject({ ready: 0, issued: INVOICES });
    expect(doneMs).toBeLessThan(60_000);
    if (TELLS_MEMORY) expect(most - memoryBefore).toBeLessThan(150);
    for (const [during, ratio] of times) expect(ratio, `creations of others during ${during}`).toBeLessThan(1.5);
    expect(server.seen.complaints).toEqual([]);
  } finally {
    await server.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}, 300_000);

interface Facts {
  readonly status: string;
  readonly counts: Readonly<Record<'ready' | 'issued' | 'accepted', number>>;
}

/** Makes another tenant. @returns its secret key */
async function otherTenant(dataDir: string): Promise<string> {
  const store = await runningStore(dataDir);
  const { tenants, manageKeys } = administrationOf(store, readConfig({}));
  const id = newId('ten');
  await tenants.insert({ id, name: 'T', profile: {}, createdAt: new Date() });
  const { token } = await manageKeys.create(id, 'secret', 'test');
  await store.close();
  return token;
}

/** Creates an invoice. @returns how long it took, milliseconds */
async function createOne(server: DoomedServer, secretKey: string): Promise<number> {
  // Rejects with the reason if the service has ended.
  const url = await server.url();
  const startedAt = performance.now();
  const response = await fetch(`${url}/v1/invoices`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(invoiceBody()),
  });
  await response.arrayBuffer();
  expect(response.status).toBe(201);
  return performance.now() - startedAt;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
