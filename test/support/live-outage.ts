import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { SimulatorOptions } from '../../scripts/authority-simulator/options.ts';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { openAdministration } from '../../src/app/administration.ts';
import { readConfig } from '../../src/config.ts';
import { countedFailures } from '../../src/domain/authority/breaker.ts';
import { newId } from '../../src/domain/ids.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { createAuthorityStateStore } from '../../src/storage/authority-state.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type DoomedServer, doomedServer } from './chaos-server.ts';
import { Client, invoiceBody } from './client.ts';
import { runningStore } from './running-store.ts';

/** The service in its own process, with a simulator in this process. */
export interface LiveService {
  readonly simulator: Simulator;
  readonly server: DoomedServer;
  readonly dataDir: string;
  /** Returns a client with the live key of a new tenant. @param ice of the tenant: numbers are unique per ICE */
  liveClient(ice?: string): Promise<Client>;
  /** Reads the store of the running service. */
  withStore<Result>(look: (db: Db) => Promise<Result>): Promise<Result>;
}

/** Runs `work` with a live service and stops it afterwards. @param signal stops it when the test is aborted */
export async function withLiveService<Result>(
  options: SimulatorOptions,
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
  work: (live: LiveService) => Promise<Result>,
): Promise<Result> {
  const dataDir = await mkdtemp(join(tmpdir(), 'live-'));
  const simulator = await startSimulator(options);
  const settings = {
    ...simulator.settings,
    DATA_DIR: dataDir,
    RATE_LIMIT_SECRET: '1000000',
    CHROMIUM_PATH: '/nonexistent',
    LOG_LEVEL: 'fatal',
    ...environment,
  };
  const server = doomedServer(settings);
  signal.addEventListener('abort', () => void server.kill());
  try {
    await server.start();
    return await work({
      simulator,
      server,
      dataDir,
      async liveClient(ice = '001525713000085') {
        const administration = await openAdministration(readConfig(settings));
        try {
          const id = newId('ten');
          const profile = { ...SPECIMEN_SELLER, ice };
          await administration.tenants.insert({ id, name: id, profile, createdAt: new Date() });
          return new Client(await server.url(), (await administration.manageKeys.create(id, 'secret', 'live')).token);
        } finally {
          await administration.close();
        }
      },
      async withStore(look) {
        const { db, close } = await runningStore(dataDir);
        try {
          return await look(db);
        } finally {
          await close();
        }
      },
    });
  } finally {
    await server.kill();
    await simulator.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

export interface OutagePlan {
  /** Number of invoices of the tenant with the most, and of the other tenant, whose invoices are created last. */
  readonly big: number;
  readonly small: number;
  /** DGI_CONCURRENCY. */
  readonly concurrency: number;
  /** How long the authority stays away after all invoices wait, milliseconds. */
  readonly outageMs: number;
  /**
   * Duration of each answer of the authority to a submission after the outage, milliseconds. Long enough that the
   * number of places limits the drain, not this machine.
   */
  readonly answerMs: number;
  readonly signal: AbortSignal;
}

export interface OutageOutcome {
  /** The state at the end of the outage. */
  readonly away: {
    readonly waiting: number;
    /** Number of PUTs in the whole outage. */
    readonly puts: number;
    /** Number of failures that counted as attempts of invoices. */
    readonly counted: number;
  };
  readonly invoices: readonly InvoiceDocument[];
  /** Ids and tenants of the invoices, in the order in which the authority received them. */
  readonly received: readonly string[];
  readonly small: ReadonlySet<string>;
  readonly doubled: readonly string[];
  readonly peakPuts: number;
  readonly opened: number;
}

/** Runs a complete outage, during which two tenants create invoices, and then waits until all are sent. */
export function runLiveOutage(plan: OutagePlan): Promise<OutageOutcome> {
  const limits = { submissions_per_minute: 100_000, lookups_per_minute: 100_000 };
  const environment = { DGI_CONCURRENCY: String(plan.concurrency) };
  return withLiveService({ profile: 'synchronous', limits }, environment, plan.signal, async (live) => {
    const { control } = live.simulator;
    const [big, small] = [await live.liveClient(), await live.liveClient('001234567000062')];
    control.setMaintenance({ scope: 'all', retryAfter: 1 });
    const create = async (client: Client): Promise<string> =>
      (await client.post('/v1/invoices', invoiceBody())).body.id;
    for (let i = 0; i < plan.big; i += 10)
      await Promise.all(Array.from({ length: Math.min(10, plan.big - i) }, () => create(big)));
    const ofSmall = new Set(await Promise.all(Array.from({ length: plan.small }, () => create(small))));
    return live.withStore(async (db) => {
      const stored = db.collection<InvoiceDocument>('invoices');
      const all = () => stored.find({ environment: 'live' }).toArray();
      const state = createAuthorityStateStore(db);
      const count = plan.big + plan.small;
      while ((await stored.countDocuments({ 'work.lane': 'transmissions', 'work.token': null })) < count)
        await sleep(200, undefined, plan);
      await sleep(plan.outageMs, undefined, plan);
      const { breaker } = await state.read();
      const works = (await all()).map(({ work }) => work);
      const away = {
        waiting: works.filter((work) => work?.stage === 'transmit').length,
        puts: control.counters().calls.submit ?? 0,
        counted: countedFailures(
          breaker,
          works.flatMap((work) => work?.failures ?? []),
        ).length,
      };
      control.resetCounters();
      control.addFault({ kind: 'slow', calls: ['submit'], delay: plan.answerMs });
      control.setMaintenance({ scope: 'off' });
      while ((await stored.countDocuments({ status: { $in: ['accepted', 'rejected'] } })) < count)
        await sleep(200, undefined, plan);
      const counters = control.counters();
      return {
        away,
        invoices: await all(),
        small: ofSmall,
        received: control.ledger().map(({ id }) => id),
        doubled: counters.ledger.doubled,
        peakPuts: counters.puts.peak,
        opened: (await state.read()).breaker.opened,
      };
    });
  });
}

/** Returns a sentence for each rule that the outage broke. */
export function flawsOfOutage({ big, small, concurrency }: OutagePlan, outcome: OutageOutcome): string[] {
  const { away, invoices, received, doubled, peakPuts } = outcome;
  const count = big + small;
  const flaws = doubled.map((each) => `the ledger holds ${each} twice`);
  if (away.waiting !== count) flaws.push(`${away.waiting} of ${count} waited`);
  if (away.counted !== 0) flaws.push(`${away.counted} attempts were burned`);
  // Those that opened the breaker, and one per trial.
  if (away.puts > 3 * concurrency + 20) flaws.push(`${away.puts} PUTs were sent while the authority was away`);
  if (received.length !== count) flaws.push(`the ledger holds ${received.length}`);
  if (peakPuts !== concurrency) flaws.push(`at most ${peakPuts} PUTs were under way`);
  if (outcome.opened !== 1) flaws.push(`the breaker opened ${outcome.opened} times`);
  for (const { _id, status, events } of invoices) {
    const types = events.map(({ type }) => type).join();
    if (status !== 'accepted') flaws.push(`${_id} is ${status}`);
    if (types !== 'invoice.signing,invoice.transmitted,invoice.accepted') flaws.push(`${_id} has ${types}`);
  }
  const last = received.findLastIndex((id) => outcome.small.has(id));
  if (last + 1 > count / 5) flaws.push(`the small tenant's last invoice was number ${last + 1} of ${count}`);
  return flaws;
}
