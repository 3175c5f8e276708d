import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db, Document } from 'mongodb';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { administrationOf } from '../../src/app/administration.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { connect } from '../../src/storage/connect.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type DoomedServer, doomedServer } from './chaos-server.ts';
import { type CommandProxy, startCommandProxy } from './command-proxy.ts';
import { freePort } from './free-ports.ts';
import { flawsOfLive } from './live-chaos-verdict.ts';
import { freshDbName } from './mongodb.ts';
import { withDatabase } from './service.ts';

export interface KillsPlan {
  /** The server of the store. */
  readonly mongodbUri: string;
  /** How many commands pass before the kill, for each kill. No more are taken after one that was not reached. */
  readonly moments: Iterator<number>;
  /** How many services run at the same time, each with a database of its own. */
  readonly services: number;
  /** Ends the processes when the test is given up. */
  readonly signal: AbortSignal;
}

export interface KillsOutcome {
  /** All that is wrong, a sentence each. */
  readonly problems: readonly string[];
  /** What the store had when the process was dead, as the request says it. */
  readonly left: ReadonlySet<string>;
  readonly kills: number;
  /** The commands of a request that nothing interrupted; null if each was. */
  readonly whole: readonly string[] | null;
}

const PATIENCE_MS = 180_000;

/** What a request made; null if its connection broke. */
export type Made = { readonly ids: readonly string[]; readonly code?: string | undefined } | null;

/** A request in which the service is killed. */
export interface KilledRequest {
  /** Stores what it is about. @returns the id under which it is looked up */
  prepare(track: Track): Promise<string>;
  /** Sends it with an idempotency key of its own for each subject. */
  ask(track: Track, subject: string): Promise<Made>;
  /** Sends it after the kill at the n-th command; absent: as before. */
  again?(track: Track, subject: string, nth: number): Promise<Made>;
  /** What is in the store when the process is dead: the documents' ids, a text that says it, and what is wrong. */
  leftOf(db: Db, subject: string): Promise<{ readonly ids: string[]; readonly text: string; readonly flaws: string[] }>;
  /** What is wrong in the end. */
  flawsOf(track: Track, subject: string, made: Made): Promise<string[]>;
}

/** Commands of the documents. Polls, jobs and limits of rates run at any time, and change nothing of them. */
function isCounted(name: string, { filter, ...command }: Document): boolean {
  const collection = String(command[name] ?? '');
  if (!/^(invoices|invoice_numbers|list_heads|webhook_events|documents\..+)$/.test(collection)) return false;
  return (
    ['insert', 'update', 'findAndModify', 'delete'].includes(name) || (name === 'find' && filter._id !== undefined)
  );
}

/**
 * Sends a request for live documents again and again, and kills the service at the n-th command that it sends to its
 * store since. It is started anew, and goes on; the request is repeated with its idempotency key, and everything is
 * checked.
 */
export async function runKills(plan: KillsPlan, request: KilledRequest): Promise<KillsOutcome> {
  const outcome = { problems: [] as string[], left: new Set<string>(), kills: 0, whole: null as string[] | null };
  const next = () => {
    const { done, value } = plan.moments.next();
    return done || outcome.whole !== null ? null : value;
  };
  const tracks = await Promise.all(Array.from({ length: plan.services }, () => startTrack(plan)));
  try {
    await Promise.all(
      tracks.map(async (track) => {
        await track.server.start();
        for (let most = next(); most !== null; most = next()) {
          const { problems, left, passed, held } = await killedAt(track, most, request);
          outcome.problems.push(...problems.map((each) => `killed at ${most} (${held}, left ${left}): ${each}`));
          if (held === null) outcome.whole = [...passed];
          else outcome.kills++;
          if (left !== null) outcome.left.add(left);
        }
        outcome.problems.push(...(await finalFlaws(track)));
      }),
    );
  } finally {
    await Promise.all(tracks.map((track) => track.close()));
  }
  return outcome;
}

/** A service with a database of its own, which it reaches through a proxy, and an authority of its own. */
export interface Track {
  readonly server: DoomedServer;
  readonly proxy: CommandProxy;
  readonly simulator: Simulator;
  readonly db: Db;
  readonly url: string;
  readonly secretKey: string;
  close(): Promise<void>;
}

async function startTrack({ mongodbUri, signal }: KillsPlan): Promise<Track> {
  const uri = withDatabase(mongodbUri, freshDbName('kills'));
  const [dataDir, port, store, simulator] = await Promise.all([
    mkdtemp(join(tmpdir(), 'kills-')),
    freePort(),
    connect(uri),
    startSimulator({ profile: 'synchronous', decisionDelay: 0 }),
  ]);
  await ensureIndexes(store.db);
  const proxy = await startCommandProxy(uri, isCounted);
  const { tenants, manageKeys } = administrationOf(store, readConfig({ ...simulator.settings }));
  const id = newId('ten');
  const profile = { ...SPECIMEN_SELLER, ice: '001525713000085' };
  await tenants.insert({ id, name: 'T', profile, createdAt: new Date() });
  const secretKey = (await manageKeys.create(id, 'secret', 'live')).token;
  const url = `http://127.0.0.1:${port}`;
  const server = doomedServer({
    ...simulator.settings,
    MONGODB_URL: proxy.uri,
    MASTER_KEY: '0123456789abcdef'.repeat(4),
    DATA_DIR: dataDir,
    PORT: String(port),
    PUBLIC_URL: url,
    RATE_LIMIT_SECRET: '1000000',
    LOG_LEVEL: 'silent',
  });
  signal.addEventListener('abort', () => void server.kill());
  return {
    ...{ server, proxy, simulator, db: store.db, url, secretKey },
    async close() {
      await server.kill();
      await proxy.close();
      await simulator.close();
      await store.db.dropDatabase();
      await store.close();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Asks for what the request makes anew, with a kill after so many commands, and checks what becomes of it. */
async function killedAt(track: Track, most: number, { prepare, ask, again, leftOf, flawsOf }: KilledRequest) {
  const { server, proxy, db } = track;
  const subject = await prepare(track);
  await quiet(db);
  const killed = proxy.count(most);
  const first = ask(track, subject);
  const reached = await Promise.race([
    killed.then(() => true),
    first.then((made) => isFinal(db, made?.ids ?? [])).then(() => false),
  ]);
  let left: string | null = null;
  const problems: string[] = [];
  if (reached) {
    await server.kill();
    await proxy.drained();
    const found = await leftOf(db, subject);
    left = found.text;
    problems.push(...found.flaws);
    proxy.open();
    await server.start();
    // Whatever is stored goes on by itself.
    await isFinal(db, found.ids);
  }
  const { passed, held } = proxy.seen();
  proxy.open();
  const answered = await first;
  const repeated = again && reached ? await again(track, subject, most) : await ask(track, subject);
  if (answered !== null && JSON.stringify(answered) !== JSON.stringify(repeated))
    problems.push('it was answered otherwise before');
  await isFinal(db, repeated?.ids ?? []);
  await quiet(db);
  problems.push(...(await flawsOf(track, subject, repeated)));
  return { problems, left, passed, held };
}

/** What is wrong with the whole store: its consistency, and the numbers of both series. */
async function finalFlaws({ db, simulator }: Track): Promise<string[]> {
  const flaws = await Array.fromAsync(findInconsistencies(db));
  const all = await db.collection<InvoiceDocument>('invoices').find().toArray();
  for (const series of Object.values(Object.groupBy(all, ({ kind }) => kind ?? 'invoice'))) {
    const serials = series.map((each) => each.series?.serial ?? 0).sort((a, b) => a - b);
    if (serials.some((serial, index) => serial !== index + 1)) flaws.push(`the numbers are ${serials}`);
  }
  const ledger = new Set(simulator.control.ledger().map(({ id }) => id));
  flaws.push(...simulator.control.counters().ledger.doubled.map((each) => `the ledger holds ${each} twice`));
  return [...flaws, ...all.filter(({ _id }) => !ledger.has(_id)).map(({ _id }) => `the ledger lacks ${_id}`)];
}

/** What is wrong with these documents, which are to be accepted: in the store, at the authority, in the events. */
export async function flawsOfAccepted(
  { db, simulator }: Track,
  documents: readonly InvoiceDocument[],
): Promise<string[]> {
  const held = new Map(simulator.control.ledger().map((entry) => [entry.id, entry]));
  const events = await db.collection<{ invoiceId: string; type: string }>('webhook_events').find().toArray();
  return documents.flatMap((document) => {
    const { _id, status, rejectionReason } = document;
    const published = events.filter(({ invoiceId }) => invoiceId === _id).map(({ type }) => type);
    const refused = status === 'accepted' ? [] : [`${_id} is ${status}: ${rejectionReason}`];
    return [...refused, ...flawsOfLive(document, held.get(_id), published)];
  });
}

/** Waits until these documents are accepted or rejected. */
export async function isFinal(db: Db, ids: readonly string[]): Promise<void> {
  const open = { _id: { $in: [...ids] }, status: { $nin: ['accepted', 'rejected'] as const } };
  await none(db, open, 'is not final');
}

/** Waits until nothing is left to do that other commands come from. PDFs wait for idle time, and are given up. */
async function quiet(db: Db): Promise<void> {
  await none(
    db,
    { $or: [{ outbox: { $exists: true } }, { work: { $exists: true }, 'work.idle': { $ne: true } }] },
    'is busy',
  );
  await db.collection('invoices').updateMany({ 'work.idle': true }, { $unset: { work: '' } });
}

async function none(db: Db, filter: object, text: string): Promise<void> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  for (const end = Date.now() + PATIENCE_MS; ; ) {
    const found = await invoices.findOne(filter as never);
    if (found === null) return;
    if (Date.now() > end) throw new Error(`${found._id} ${text}: ${found.status}, work ${JSON.stringify(found.work)}`);
    await sleep(20);
  }
}
