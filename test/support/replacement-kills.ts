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
import { Client, invoiceBody } from './client.ts';
import { type CommandProxy, startCommandProxy } from './command-proxy.ts';
import { freePort } from './free-ports.ts';
import { flawsOfLive } from './live-chaos-verdict.ts';
import { freshDbName } from './mongodb.ts';
import { withDatabase } from './service.ts';

export interface ReplacementKillsPlan {
  /** The server of the store. */
  readonly mongodbUri: string;
  /** How many commands pass before the kill, for each kill. No more are taken after one that was not reached. */
  readonly moments: Iterator<number>;
  /** How many services run at the same time, each with a database of its own. */
  readonly services: number;
  /** Ends the processes when the test is given up. */
  readonly signal: AbortSignal;
}

export interface ReplacementKillsOutcome {
  /** All that is wrong, a sentence each. */
  readonly problems: readonly string[];
  /** What the store had when the process was dead, as {@link leftIn}. */
  readonly left: ReadonlySet<string>;
  readonly kills: number;
  /** The commands of a replacement that nothing interrupted; null if each was. */
  readonly whole: readonly string[] | null;
}

const REPLACE = `mutation ($id: ID!, $input: CreateInvoiceInput!, $key: String) {
  replaceInvoice(invoiceId: $id, input: $input, reason: error, idempotencyKey: $key) {
    ... on ReplaceInvoicePayload { invoice { id } creditNote { id } } ... on Error { code message } } }`;
const INPUT = {
  amount: 18_000,
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Client corrigé' },
  lines: [{ description: 'Conseil', quantity: 2, unitPrice: 7_500, taxRate: 20 }],
};
const PATIENCE_MS = 60_000;

/** Commands of the documents. Polls, jobs and limits of rates run at any time, and change nothing of a replacement. */
function isCounted(name: string, { filter, ...command }: Document): boolean {
  const collection = String(command[name] ?? '');
  if (!/^(invoices|invoice_numbers|list_heads|webhook_events|documents\..+)$/.test(collection)) return false;
  return (
    ['insert', 'update', 'findAndModify', 'delete'].includes(name) || (name === 'find' && filter._id !== undefined)
  );
}

/**
 * Replaces accepted live invoices, and kills the service at the n-th command that it sends to its store since the
 * request. It is started anew, and goes on; the request is repeated with its idempotency key, and everything is checked.
 */
export async function runReplacementKills(plan: ReplacementKillsPlan): Promise<ReplacementKillsOutcome> {
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
          const { problems, left, passed, held } = await killedAt(track, most);
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
interface Track {
  readonly server: DoomedServer;
  readonly proxy: CommandProxy;
  readonly simulator: Simulator;
  readonly db: Db;
  readonly url: string;
  readonly secretKey: string;
  close(): Promise<void>;
}

async function startTrack({ mongodbUri, signal }: ReplacementKillsPlan): Promise<Track> {
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

interface Killed {
  readonly problems: readonly string[];
  readonly left: string | null;
  readonly passed: readonly string[];
  readonly held: string | null;
}

/** Replaces a new invoice, with a kill after so many commands, and checks what becomes of it. */
async function killedAt(track: Track, most: number): Promise<Killed> {
  const { server, proxy, db } = track;
  const { body } = await new Client(track.url, track.secretKey).post('/v1/invoices', invoiceBody());
  const original: string = body.id;
  await isFinal(db, [original]);
  await quiet(db);
  const killed = proxy.count(most);
  const first = replace(track, original);
  const reached = await Promise.race([
    killed.then(() => true),
    first.then((made) => isFinal(db, idsOf(made))).then(() => false),
  ]);
  let left: string | null = null;
  const problems: string[] = [];
  if (reached) {
    await server.kill();
    await proxy.drained();
    const found = await corrections(db, original);
    left = leftIn(found);
    if (found.notes.length > found.invoices.length) problems.push('a credit note is stored without its invoice');
    proxy.open();
    await server.start();
    // Whatever is stored goes on by itself.
    await isFinal(
      db,
      [...found.invoices, ...found.notes].map(({ _id }) => _id),
    );
  }
  const { passed, held } = proxy.seen();
  proxy.open();
  const [answered, again] = [await first, await replace(track, original)];
  if (answered !== null && JSON.stringify(answered) !== JSON.stringify(again))
    problems.push('it was answered otherwise before');
  await isFinal(db, idsOf(again));
  await quiet(db);
  problems.push(...(await flawsOf(track, original, again)));
  return { problems, left, passed, held };
}

/** What an answered replacement made. */
interface Made {
  readonly invoice?: { readonly id: string };
  readonly creditNote?: { readonly id: string } | null;
  readonly code?: string;
}

/** @returns the answer; null if the connection broke */
async function replace({ url, secretKey }: Track, id: string): Promise<Made | null> {
  try {
    const { body } = await new Client(url, secretKey).graphql(REPLACE, { id, input: INPUT, key: `replace ${id}` });
    return body.data.replaceInvoice;
  } catch {
    return null;
  }
}

const idsOf = (made: Made | null) => [made?.invoice?.id, made?.creditNote?.id].flatMap((id) => id ?? []);

interface Corrections {
  readonly original: InvoiceDocument | null;
  readonly invoices: readonly InvoiceDocument[];
  readonly notes: readonly InvoiceDocument[];
}

async function corrections(db: Db, originalId: string): Promise<Corrections> {
  const documents = db.collection<InvoiceDocument>('invoices');
  const [original, invoices, notes] = await Promise.all([
    documents.findOne({ _id: originalId }),
    documents.find({ 'replaces.invoice.id': originalId }).toArray(),
    documents.find({ 'credit.original.id': originalId }).toArray(),
  ]);
  return { original, invoices, notes };
}

/** Says what a replacement has left in the store: the share, the link, the invoice with its status, the credit note. */
function leftIn({ original, invoices, notes }: Corrections): string {
  const kept = original?.credits?.list.length ? 'share' : '-';
  const linked = original?.replacedBy ? 'link' : '-';
  return [kept, linked, invoices[0]?.status ?? '-', notes[0]?.status ?? '-'].join(' ');
}

async function flawsOf({ db, simulator }: Track, originalId: string, made: Made | null): Promise<string[]> {
  const { original, invoices, notes } = await corrections(db, originalId);
  const [invoice, note] = [invoices[0], notes[0]];
  if (made?.code !== undefined) return [`the repeated request was answered ${made.code}`];
  if (invoices.length !== 1 || notes.length !== 1 || !invoice || !note || !original)
    return [`there are ${invoices.length} invoices and ${notes.length} credit notes`];
  const flaws: string[] = original.status === 'accepted' ? [] : [`the replaced invoice is ${original.status}`];
  if (made?.invoice?.id !== invoice._id || made.creditNote?.id !== note._id) flaws.push('the answer names others');
  const shares = original.credits?.list.map(({ creditNoteId, amount }) => `${creditNoteId} ${amount}`);
  if (shares?.join() !== `${note._id} ${original.amount}`) flaws.push(`the invoice keeps the shares ${shares}`);
  if (original.replacedBy?.invoiceId !== invoice._id) flaws.push('the invoice has another link');
  const decidedAt = note.events.at(-1)?.at.getTime() ?? Number.POSITIVE_INFINITY;
  if (invoice.events.some(({ at }) => at.getTime() < decidedAt)) flaws.push('it is issued before its credit note');
  const held = new Map(simulator.control.ledger().map((entry) => [entry.id, entry]));
  const events = await db.collection<{ invoiceId: string; type: string }>('webhook_events').find().toArray();
  for (const document of [invoice, note]) {
    const published = events.filter(({ invoiceId }) => invoiceId === document._id).map(({ type }) => type);
    if (document.status !== 'accepted')
      flaws.push(`${document._id} is ${document.status}: ${document.rejectionReason}`);
    flaws.push(...flawsOfLive(document, held.get(document._id), published));
  }
  return flaws;
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

/** Waits until these documents are accepted or rejected. */
async function isFinal(db: Db, ids: readonly string[]): Promise<void> {
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
