import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Binary, Decimal128, type Document, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeDone } from '../../scripts/bench/stored-invoices.ts';
import { takeBackup } from '../../src/app/backup/take-backup.ts';
import { checkStore } from '../../src/app/check-store.ts';
import { commandParts } from '../../src/app/command-parts.ts';
import { abandonData, moveData } from '../../src/app/migration.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { readConfig } from '../../src/config.ts';
import type { Member } from '../../src/domain/principal.ts';
import { COLLECTIONS, PLACEMENTS } from '../../src/storage/collection-rules.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { digests, indexTexts, of, openEmbedded, runMigration } from '../support/migration.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';
import { firstOf } from '../support/samples.ts';
import { startService, withDatabase } from '../support/service.ts';

// The command that moves the data of the embedded engine to another server (docs/decisions/0066).

/** Accepted ten seconds after it was transmitted. */
const SLOW_DECISION = '999000000000393';
const MOVED = new Set(Object.entries(COLLECTIONS).flatMap(([name, { move }]) => (move === 'moved' ? [name] : [])));
const STRANGE = 'of_nobody';

let folder: string;
let mongo: TestMongo;
let receiver: Receiver;
let target: string;
const embedded = () => ({ DATA_DIR: join(folder, 'data'), MONGODB_URL: '', MASTER_KEY: '' });
const SERVICE = { ALLOW_INSECURE_WEBHOOKS: 'true', WEBHOOK_RETRY_SCHEDULE: '0s,1h' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrate-'));
  mongo = await startTestMongo();
  receiver = await startReceiver();
  target = withDatabase(mongo.uri, freshDbName('moved'));
});
afterAll(async () => {
  const store = await connect(target);
  await store.db.dropDatabase();
  await store.close();
  await mongo.close();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

it('every collection of a running service, and every placed one, has a rule', async () => {
  const service = await startService();
  try {
    const found = await service.app.store.db.listCollections({}, { nameOnly: true }).toArray();
    const names = new Set([...found.map(({ name }) => name), ...Object.keys(PLACEMENTS)]);
    expect([...names].filter((name) => COLLECTIONS[name]?.move === undefined)).toEqual([]);
    expect(Object.keys(COLLECTIONS).filter((name) => !names.has(name))).toEqual([]);
  } finally {
    await service.close();
  }
});

describe('the embedded engine with some hundred invoices, one in the middle of its pipeline, and a delivery to retry', () => {
  let tenant: { id: string; secretKey: string };
  let first: string;
  let slow: string;
  let secret: string;
  let before: Record<string, string>;
  let indexes: Record<string, string>;

  it('is not moved while the service runs', async () => {
    receiver.answer((_request, response) => response.writeHead(503).end());
    const service = await startService({ ...embedded(), ...SERVICE });
    tenant = await service.tenant();
    const client = new Client(service.url, tenant.secretKey);
    const { body } = await client.post('/v1/webhook_endpoints', { url: receiver.url, events: ['invoice.accepted'] });
    secret = body.secret;
    first = (await client.post('/v1/invoices', invoiceBody())).body.id;
    await client.settled(first);
    await expect.poll(() => receiver.received.length).toBe(1);
    slow = (await client.post('/v1/invoices', invoiceFor(SLOW_DECISION))).body.id;
    await expect.poll(async () => (await client.get(`/v1/invoices/${slow}`)).body.status).toBe('transmitted');
    await expect(move(target)).rejects.toThrow(/Stop the service first/);
    await service.app.close();

    const store = await openEmbedded(embedded().DATA_DIR);
    const owner = { tenant: { id: tenant.id }, environment: 'test', keyId: 'key_1' } as unknown as Member;
    await storeDone(store.db, owner, { count: 200, lines: 3 });
    await storeStrange(store);
    before = await digests(store.db);
    indexes = await indexTexts(store.db, MOVED);
    await store.close();
  });

  it('is moved byte for byte with its indexes, though killed; what must stay, stays', async () => {
    for (const point of firstOf([/moving documents\.chunks/, /moving invoices:/, /verifying invoices/])) {
      const killed = await runMigration(['--to', target], embedded(), point);
      expect(killed.code, killed.err).toBeNull();
      expect(killed.err).toMatch(point);
      await expect(startService({ MONGODB_URL: target, MASTER_KEY: 'ab'.repeat(32) })).rejects.toThrow(
        /incomplete copy/,
      );
      await expect(startService(embedded())).rejects.toThrow(/is being moved/);
    }
    const ended = await migrateHere(['--to', target]);
    expect(ended).toMatchObject({ code: 0 });
    const keyFile = join(embedded().DATA_DIR, 'master.key');
    expect(ended.out).toContain(`MONGODB_URL='${target}'\nMASTER_KEY="$(cat '${keyFile}')"`);

    expect(ended.out).toContain(`In a shell; an env file wants the content of ${keyFile} after MASTER_KEY= instead:`);

    const store = await connect(target);
    const after = await digests(store.db);
    expect(of(after, MOVED)).toEqual(of(before, MOVED));
    expect(Number(after.invoices?.split(' ')[0])).toBe(202);
    expect(after[STRANGE]).toBe(before[STRANGE]);
    expect(
      Object.keys(after)
        .filter((name) => !MOVED.has(name))
        .sort(),
    ).toEqual(['data_moves', STRANGE]);
    expect(await indexTexts(store.db, MOVED)).toEqual(indexes);
    await store.close();
    expect(await move(target)).toMatchObject({ collections: null, masterKeyFile: keyFile });
  });

  it('goes on at the new server, and starts no more at the old one', async () => {
    await expect(startService(embedded())).rejects.toThrow(/was moved to .* Start with MONGODB_URL/);
    const masterKey = (await readFile(join(embedded().DATA_DIR, 'master.key'), 'utf8')).trim();
    receiver.answer((_request, response) => response.end());
    receiver.received.length = 0;
    await retryNow();
    const service = await startService({ ...SERVICE, MONGODB_URL: target, MASTER_KEY: masterKey });
    try {
      const client = new Client(service.url, tenant.secretKey);
      expect(await client.settled(slow)).toMatchObject({ status: 'accepted' });
      const delivered = () => new Set(receiver.received.map(({ event }) => event.data.id));
      await expect.poll(delivered).toEqual(new Set([first, slow]));
      const last = receiver.received.at(-1);
      expect(last && verifies(last, secret, last.at)).toBe(true);
    } finally {
      await service.app.close();
    }
  });

  it('can still be backed up at the old one; what opens the copy refuses, too', async () => {
    const to = join(folder, 'backup');
    const options = { withMasterKey: true, signal: new AbortController().signal, say: () => undefined };
    expect(await takeBackup(readConfig(embedded()), { to, ...options })).toMatchObject({ kind: 'complete' });
    for (const DATA_DIR of [embedded().DATA_DIR, join(to, 'data')])
      await expect(check(DATA_DIR)).rejects.toThrow(/^This data was moved to/);
  });

  it('is not moved elsewhere unless the move is abandoned; then the old data can be used again', async () => {
    const other = withDatabase(mongo.uri, freshDbName('other'));
    await expect(move(other)).rejects.toThrow(/--abandon/);
    expect(await abandonData(readConfig(embedded()), null)).toBe(true);
    expect(await abandonData(readConfig(embedded()), null)).toBe(false);
    await expect(move(target)).rejects.toThrow(/is not empty: it has audit_log/);
    const service = await startService({ ...embedded(), ...SERVICE });
    await service.app.close();
  });
});

/** Runs the command `migrate` in this process, which costs less than one of its own. */
async function migrateHere(args: readonly string[]): Promise<{ code: number; out: string }> {
  const { terminal, texts } = recordingTerminal();
  const context = { terminal, config: () => readConfig(embedded()), environmentKey: () => null, parts: commandParts };
  return { code: await runCommandLine(['migrate', ...args], COMMANDS, context), out: texts.out };
}

/** Opens the store of a folder as the service does, and checks it. */
const check = (DATA_DIR: string) =>
  checkStore(
    readConfig({ DATA_DIR }),
    (fault) => expect.unreachable(fault),
    () => undefined,
  );

/** Moves in this process, which costs less than a command. */
const move = (to: string) =>
  moveData(readConfig(embedded()), null, to, { waits: () => {}, begins: () => {}, passes: () => {} });

/** As if the time of the next attempt had come. */
async function retryNow(): Promise<void> {
  const store = await connect(target);
  const due = { 'work.readyAt': new Date(), 'work.sweepAt': new Date() };
  const deliveries = store.db.collection('webhook_deliveries');
  const { modifiedCount } = await deliveries.updateMany({ 'work.readyAt': { $exists: true } }, { $set: due });
  expect(modifiedCount).toBeGreaterThan(0);
  await store.close();
}

/** A collection that no version knows, with ids of every type, and fields in an order that JavaScript would not keep. */
async function storeStrange({ db }: Store): Promise<void> {
  const ids = [
    new MinKey(),
    null,
    new Int32(3),
    Long.fromNumber(2 ** 40),
    new Double(0.5),
    Decimal128.fromString('1E400'),
    '',
    'a',
    { 2: 1, 1: 2 },
    new Binary(Buffer.from('bytes')),
    new ObjectId(),
    false,
    true,
    new Date(0),
    new Timestamp({ t: 1, i: 2 }),
    new MaxKey(),
  ];
  for (const _id of ids) {
    const fields = new Map<string, unknown>([
      ['_id', _id],
      ['b', new Double(1)],
      ['7', Long.fromNumber(1)],
      ['2', new Int32(1)],
    ]);
    // The driver would add an `_id` to what seems to have none.
    await db.collection(STRANGE).insertOne(fields as unknown as Document, { forceServerObjectId: true });
  }
}
