import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { period } from '../../src/domain/invoice/periods/read-period.ts';
import { TAX_RATES, type TaxRate } from '../../src/domain/invoice/tax-rate.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Member } from '../../src/domain/principal.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { createPeriodSums } from '../../src/storage/period-sums.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { ORDINARY_ICE, REJECTING_ICE } from './chaos.ts';
import { type DoomedServer, doomedServer } from './chaos-server.ts';
import { invoicesOf, pendingInvoice } from './invoices.ts';
import { freshDbName } from './mongodb.ts';
import { withDatabase } from './service.ts';

export interface PeriodChaosPlan {
  readonly mongodbUri: string;
  readonly seed: number;
  /** Number of invoices and credit notes. */
  readonly documents: number;
  readonly workers: number;
  /** Number of kills (kill -9), each of a random worker. */
  readonly kills: number;
  /** Mean time between two kills, milliseconds. */
  readonly killEveryMs: number;
  /** Maximum duration of all work after the last creation, milliseconds. */
  readonly patienceMs: number;
  /** Stops the workers when the test is aborted. */
  readonly signal: AbortSignal;
}

export interface PeriodChaosOutcome {
  /** The sums of the periods as the service answers them, a line for each kind, status and rate. */
  readonly answered: readonly string[];
  /** The same sums, recomputed from the documents that the test created and their final statuses. */
  readonly recomputed: readonly string[];
  /** The findings of `check`. */
  readonly faults: readonly string[];
  /** Number of documents by kind and status. */
  readonly ended: Readonly<Record<string, number>>;
  readonly kills: number;
  readonly complaints: readonly string[];
}

const MONTHS = ['2026-08', '2026-09', '2026-10', '2026-11'];
const PERIODS = [...MONTHS, '2026-Q3', '2026-Q4', '2026'];
/** Fraction of credit notes, and of unknown buyers. */
const [CREDITED, REJECTED] = [0.2, 0.2];
/** Number of documents that are created at the same time. */
const AT_ONCE = 50;
const LOOK_MS = 250;

/** The test's record of a document that it created. */
interface Made {
  readonly id: string;
  readonly kind: Invoice['kind'];
  readonly month: string;
  readonly net: ReadonlyMap<TaxRate, number>;
}

/** Creates and decides documents of four months while workers are killed. Then reads the sums and recomputes them. */
export async function runPeriodChaos(plan: PeriodChaosPlan): Promise<PeriodChaosOutcome> {
  const random = randomNumbers(plan.seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'periods-'));
  const uri = withDatabase(plan.mongodbUri, freshDbName('periods'));
  const store = await connect(uri);
  await ensureIndexes(store.db);
  const settings = {
    ROLE: 'worker',
    LOG_LEVEL: 'error',
    CHROMIUM_PATH: '/nonexistent',
    DATA_DIR: dataDir,
    MONGODB_URL: uri,
    MASTER_KEY: '0123456789abcdef'.repeat(4),
  };
  const workers = Array.from({ length: plan.workers }, () => doomedServer(settings));
  const killAll = () => Promise.all(workers.map((worker) => worker.kill()));
  plan.signal.addEventListener('abort', () => void killAll());
  try {
    const tenantId = newId('ten');
    const createdAt = new Date();
    await createTenantRepository(store.db).insert({ id: tenantId, name: 'T', profile: {}, createdAt }, []);
    await Promise.all(workers.map((worker) => worker.start()));
    const killing = killSome(workers, plan, random);
    const made: Made[] = [];
    while (made.length < plan.documents) {
      const several = Math.min(AT_ONCE, plan.documents - made.length);
      made.push(...(await Promise.all(Array.from({ length: several }, () => createOne(store, tenantId, random)))));
    }
    const kills = await killing;
    await summed(store, Date.now() + plan.patienceMs);
    const stored = await store.db.collection<InvoiceDocument>('invoices').find().toArray();
    const statuses = new Map(stored.map(({ _id, status }) => [_id, status]));
    const outcome = {
      kills,
      answered: await answeredSums(store, tenantId),
      recomputed: recomputedSums(made, statuses),
      faults: await Array.fromAsync(findInconsistencies(store.db)),
      ended: countsOf(made.map(({ id, kind }) => `${kind} ${statuses.get(id)}`)),
      complaints: workers.flatMap(({ seen }) => seen.complaints),
    };
    await Promise.all(workers.map((worker) => worker.stop()));
    return outcome;
  } finally {
    await killAll();
    await store.db.dropDatabase();
    await store.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function killSome(
  workers: readonly DoomedServer[],
  { kills, killEveryMs }: PeriodChaosPlan,
  random: () => number,
): Promise<number> {
  for (let done = 0; done < kills; done++) {
    await sleep(random() * 2 * killEveryMs);
    const victim = workers[Math.floor(random() * workers.length)];
    await victim?.kill();
    await victim?.start();
  }
  return kills;
}

/**
 * Creates an invoice, or a credit note of an invoice of another system, with up to three rates, in one of the months.
 */
async function createOne({ db }: Store, tenantId: string, random: () => number): Promise<Made> {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const month = pick(MONTHS);
  // From noon on, so that the day in Morocco is the same.
  const createdAt = new Date(`${month}-${String(1 + Math.floor(random() * 30)).padStart(2, '0')}T12:00:00Z`);
  const net = new Map<TaxRate, number>();
  const base = pendingInvoice({ tenantId });
  const lines = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const [rate, unitPrice] = [pick(TAX_RATES), 1 + Math.floor(random() * 100_000_000)];
    net.set(rate, (net.get(rate) ?? 0) + unitPrice);
    return { ...(base.lines[0] as Invoice['lines'][number]), taxRate: rate, unitPrice, amount: unitPrice };
  });
  const rates = [...net]
    .map(([rate, sum]) => ({ rate, base: sum, tax: taxOf(rate, sum) }))
    .sort((a, b) => b.rate - a.rate);
  const amount = rates.reduce((sum, { base: of, tax }) => sum + of + tax, 0);
  const kind = random() < CREDITED ? 'credit_note' : 'invoice';
  const customer = { ...base.customer, ice: random() < REJECTED ? REJECTING_ICE : ORDINARY_ICE };
  const original = { id: null, number: 'E 1', issueDate: '2026-01-31', dgiId: null };
  const credit = { credit: { original, reason: 'return', note: null, rates, amount } } as const;
  const id = newId(kind === 'invoice' ? 'inv' : 'crn');
  await invoicesOf(db).insert(
    { ...base, id, kind, createdAt, lines, amount, customer, ...(kind === 'credit_note' && credit) },
    newCreationMoment().order,
    null,
  );
  return { id, kind, month, net };
}

/** Computes VAT, rounded half up. */
function taxOf(rate: number, net: number): number {
  return Math.floor((net * rate + 50) / 100);
}

/** Waits until every document is decided and in the sums. */
async function summed({ db }: Store, end: number): Promise<void> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const conditions = [
    { status: { $nin: ['accepted', 'rejected'] } },
    { outbox: { $exists: true } },
    { unsummed: { $exists: true } },
  ];
  while (await invoices.findOne({ $or: conditions } as object, { projection: { _id: 1 } })) {
    if (Date.now() > end) throw new Error('documents are left that are undecided or not summed');
    await sleep(LOOK_MS);
  }
}

async function answeredSums({ db }: Store, tenantId: string): Promise<string[]> {
  const by = { kind: 'secret', keyId: 'key', tenant: { id: tenantId }, environment: 'test' } as Member;
  const lines: string[] = [];
  for (const name of PERIODS) {
    const { sums } = (await period.run({ periodSums: createPeriodSums(db) }, { by }, name)).period;
    for (const [kind, ofKind] of Object.entries(sums))
      for (const [status, { count, amount, rates }] of Object.entries(ofKind)) {
        if (count > 0) lines.push(`${name} ${kind} ${status}: ${count}, ${amount}`);
        for (const [rate, { net, tax }] of rates) lines.push(`${name} ${kind} ${status} ${rate}%: ${net}, ${tax}`);
      }
  }
  return lines.sort();
}

function recomputedSums(made: readonly Made[], statuses: ReadonlyMap<string, string>): string[] {
  const sums = new Map<string, [number, bigint]>();
  const rates = new Map<string, [bigint, bigint]>();
  for (const { id, kind, month, net } of made)
    for (const name of PERIODS.filter((each) => isIn(each, month))) {
      const of = `${name} ${kind} ${statuses.get(id)}`;
      const [count, amount] = sums.get(of) ?? [0, 0n];
      const all = [...net].reduce((sum, [rate, base]) => sum + base + taxOf(rate, base), 0);
      sums.set(of, [count + 1, amount + BigInt(all)]);
      for (const [rate, base] of net) {
        const [nets, taxes] = rates.get(`${of} ${rate}%`) ?? [0n, 0n];
        rates.set(`${of} ${rate}%`, [nets + BigInt(base), taxes + BigInt(taxOf(rate, base))]);
      }
    }
  return [...sums, ...rates].map(([of, [first, second]]) => `${of}: ${first}, ${second}`).sort();
}

function isIn(name: string, month: string): boolean {
  if (!name.includes('Q')) return month.startsWith(name);
  return name === `${month.slice(0, 4)}-Q${Math.ceil(Number(month.slice(5)) / 3)}`;
}

function countsOf(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, each]) => [name, each.length]));
}
