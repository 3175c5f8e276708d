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
  /** For each kill, the number of commands that pass before it. Ends after a number that a request does not reach. */
  readonly moments: Iterator<number>;
  /** Number of services that run at the same time, each with its own database. */
  readonly services: number;
  /** Stops the processes when the test is aborted. */
  readonly signal: AbortSignal;
}

export interface KillsOutcome {
  /** A sentence for each problem. */
  readonly problems: readonly string[];
  /** The states of the store after the process died, as texts of the request. */
  readonly left: ReadonlySet<string>;
  readonly kills: number;
  /** The commands of a request that was not interrupted; null if every request was. */
  readonly whole: readonly string[] | null;
}

const PATIENCE_MS = 180_000;

/** The documents that a request made; null if its connection broke. */
export type Made = { readonly ids: readonly string[]; readonly code?: string | undefined } | null;

/** A request in which the service is killed. */
export interface KilledRequest {
  /** Stores the objects of the request. @returns the id under which they are looked up */
  prepare(track: Track): Promise<string>;
  /** Sends the request with its own idempotency key for each subject. */
  ask(track: Track, subject: string): Promise<Made>;
  /** Sends the request after the kill at the n-th command. Default: `ask`. */
  again?(track: Track, subject: string, nth: number): Promise<Made>;
  /** Reads the store after the process died: the documents' ids, a text that describes the state, and its flaws. */
  leftOf(db: Db, subject: string): Promise<{ readonly ids: string[]; readonly text: string; readonly flaws: string[] }>;
  /** Returns the flaws at the end. */
  flawsOf(track: Track, subject: string, made: Made): Promise<string[]>;
}

/**
 * Whether a command concerns the documents. Polls, jobs and rate limits run at any time, and do not change documents.
 */
function isCounted(name: string, { filter, ...command }: Document): boolean {
  const collection = String(command[name] ?? '');
  if (!/^(invoices|invoice_numbers|list_heads|webhook_events|documents\..+)$/.test(collection)) return false;
  return (
    ['insert', 'update', 'findAndModify', 'delete'].includes(name) || (name === 'find' && filter._id !== undefined)
  );
}

/**
 * Sends a request for live documents repeatedly, and kills the service at its n-th command to the store since the
 * request. The service is restarted and continues; the request is repeated with its idempotency key, and everything is
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

/** A service with its own database, which it reaches through a proxy, and its own authority. */
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
    server,
    proxy,
    simulator,
    db: store.db,
    url,
    secretKey,
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

/** Prepares a new subject, sends the request with a kill after `most` commands, and checks the result. */
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
    // Stored documents are processed without the request.
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

/** Returns the flaws of the whole store: its consistency, and the numbers of both series. */
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

/** Returns the flaws of these documents, which must be accepted: in the store, at the authority, in the events. */
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

/** Waits until no work is left that would send other commands. PDFs would wait for idle time, and are abandoned. */
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
