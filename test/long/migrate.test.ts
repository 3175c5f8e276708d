import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Db, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { storeDone } from '../../scripts/bench/stored-invoices.ts';
import type { Member } from '../../src/domain/principal.ts';
import { COLLECTIONS } from '../../src/storage/collection-rules.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { Client } from '../support/client.ts';
import { digests, indexTexts, of, openEmbedded, runMigration } from '../support/migration.ts';
import { freshDbName } from '../support/mongodb.ts';
import { HAS_REFERENCE, type ReferenceServer, startReference } from '../support/reference-server.ts';
import { startService, withDatabase } from '../support/service.ts';

// 100,000 invoices with their numbers, documents and events, from the embedded engine to the independent server, killed three times.

const INVOICES = 100_000;
const GROUP = 5000;
const XML_BYTES = 8000;
/** Of it, some 150 are the program itself, and 64 the cache of SQLite. */
const MEMORY_MIB = 700;
const MOVED = new Set(Object.entries(COLLECTIONS).flatMap(([name, { move }]) => (move === 'moved' ? [name] : [])));

const skipped = !process.env.TEST_MONGODB_URL && !HAS_REFERENCE;
let folder: string;
let server: string;
let reference: ReferenceServer | null = null;
let settings: Record<string, string>;

beforeAll(async () => {
  if (skipped) return;
  folder = await mkdtemp(join(tmpdir(), 'migrate-long-'));
  settings = { DATA_DIR: join(folder, 'data'), MONGODB_URL: '', MASTER_KEY: '' };
  if (!process.env.TEST_MONGODB_URL) reference = await startReference(join(folder, 'reference'));
  server = reference?.uri ?? (process.env.TEST_MONGODB_URL as string);
});
afterAll(async () => {
  await reference?.stop();
  if (!skipped) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** Stores the invoices of a tenant as a service leaves them: each with its number, its XML and two events. */
async function storeInvoices(db: Db, owner: Member): Promise<void> {
  const raw = (name: string) => db.collection<{ _id: unknown }>(name);
  for (let stored = 0; stored < INVOICES; stored += GROUP) {
    const ids = await storeDone(db, owner, { count: Math.min(GROUP, INVOICES - stored), lines: 3 });
    const at = new Date();
    const files = ids.map((id, n) => ({
      _id: new ObjectId(),
      filename: `${id}.xml`,
      length: XML_BYTES,
      uploadDate: at,
      n,
    }));
    const content = (n: number) => Buffer.alloc(XML_BYTES, `<cbc:ID>${stored + n}</cbc:ID>`);
    const add = (name: string, documents: { _id: unknown }[]) => raw(name).insertMany(documents, { ordered: false });
    await add(
      'documents.chunks',
      files.map(({ _id, n }) => ({ _id: new ObjectId(), files_id: _id, n: 0, data: content(n) })),
    );
    await add(
      'documents.files',
      files.map(({ n: _, ...file }) => ({ ...file, chunkSize: 261_120 })),
    );
    const owned = { tenantId: owner.tenant.id, environment: 'test' };
    await add(
      'invoice_numbers',
      ids.map((id, n) => ({ _id: `${owner.tenant.id} test ${stored + n}`, invoiceId: id })),
    );
    await add(
      'webhook_events',
      ids.flatMap((id) =>
        ['signing', 'accepted'].map((status) => ({
          _id: `evt_${id}_${status}`,
          ...owned,
          type: `invoice.${status}`,
          invoiceId: id,
          order: id,
          place: id,
          storedAt: at,
          body: JSON.stringify({ type: status, data: { id, amount: 1_463_712 } }),
        })),
      ),
    );
  }
}

it.skipIf(skipped)('100,000 invoices are moved though killed three times, and are the same by digest', async () => {
  const service = await startService(settings);
  const tenant = await service.tenant();
  await service.app.close();
  const source = await openEmbedded(settings.DATA_DIR ?? '');
  const owner = { tenant: { id: tenant.id }, environment: 'test', keyId: 'key_1' } as unknown as Member;
  await storeInvoices(source.db, owner);
  const before = await digests(source.db);
  const indexes = await indexTexts(source.db, MOVED);
  await source.close();

  const target = withDatabase(server, freshDbName('moved'));
  const held = async <T>(look: (store: Store) => Promise<T>): Promise<T> => {
    const store = await connect(target);
    return look(store).finally(() => store.close());
  };
  const counts = (name: string) => held(({ db }) => db.collection(name).countDocuments());
  const startedAt = Date.now();
  const [chunks, kept, verifying] = [/moving documents\.chunks: \d{5}/, /moving invoices:/, /verifying invoices:/];
  expect((await runMigration(['--to', target], settings, chunks)).code).toBeNull();
  const afterFirst = await counts('documents.chunks');
  expect(afterFirst).toBeGreaterThan(0);
  expect(afterFirst).toBeLessThan(INVOICES);
  const second = await runMigration(['--to', target], settings, kept);
  expect(second.code).toBeNull();
  const afterSecond = await counts('invoices');
  expect(afterSecond).toBeGreaterThan(0);
  expect(afterSecond).toBeLessThan(INVOICES);
  expect((await runMigration(['--to', target], settings, verifying)).code).toBeNull();
  const last = await runMigration(['--to', target], settings);
  expect(last.code, last.err).toBe(0);
  console.log(
    last.err,
    last.out,
    `${Math.round((Date.now() - startedAt) / 1000)} s, at most ${second.memoryMiB}, ${last.memoryMiB} MiB`,
  );
  expect(Math.max(second.memoryMiB, last.memoryMiB)).toBeLessThan(MEMORY_MIB);

  const after = await held(({ db }) => digests(db));
  expect(of(after, MOVED)).toEqual(of(before, MOVED));
  expect(await held(({ db }) => indexTexts(db, MOVED))).toEqual(indexes);
  const masterKey = (await readFile(join(settings.DATA_DIR ?? '', 'master.key'), 'utf8')).trim();
  const moved = await startService({ MONGODB_URL: target, MASTER_KEY: masterKey });
  const { body } = await new Client(moved.url, tenant.secretKey).get('/v1/invoices?limit=1');
  expect(body.data).toHaveLength(1);
  await moved.app.close();
});
