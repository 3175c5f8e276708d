import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultRule } from '../../scripts/authority-simulator/faults.ts';
import type { Profile } from '../../scripts/authority-simulator/options.ts';
import { startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import type { SubmissionBody } from '../../scripts/authority-simulator/submission.ts';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { openAdministration } from '../../src/app/administration.ts';
import { readConfig } from '../../src/config.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type DoomedServer, doomedServer } from './chaos-server.ts';
import { freePort } from './free-ports.ts';
import { type Orders, orderAll } from './live-orders.ts';
import { runningStore } from './running-store.ts';

export interface LiveChaosPlan {
  readonly profile: Profile;
  /** Seed of every random choice of the run. The machine's timing decides the rest. */
  readonly seed: number;
  /** Number of created invoices. Credit notes are created, too: see {@link orderAll}. */
  readonly invoices: number;
  /** Number of clients that create at the same time. */
  readonly clients: number;
  readonly faults: readonly FaultRule[];
  /** Mean time between two kills, milliseconds. */
  readonly killEveryMs: number;
  /** Minimum number of kills. The service is also killed as long as documents are created; 0: never. */
  readonly kills: number;
  /** Maximum time until all invoices are final after the last kill, milliseconds. */
  readonly patienceMs: number;
  /** Stops the service when the test is aborted. */
  readonly signal: AbortSignal;
}

export interface LiveChaosOutcome {
  readonly plan: LiveChaosPlan;
  readonly orders: Orders;
  /** The stored documents of both kinds. */
  readonly documents: readonly InvoiceDocument[];
  /** The findings of the service's own check of its store. */
  readonly inconsistencies: readonly string[];
  /** The types of the published events, by invoice, sorted as stored. */
  readonly published: ReadonlyMap<string, readonly string[]>;
  /** The authority's ledger. */
  readonly ledger: readonly SubmissionBody[];
  /** Ids and digests with more than one entry in the authority's file. */
  readonly doubled: readonly string[];
  readonly kills: number;
  /** Number of faults that occurred, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly peakPuts: number;
  /** Time from the last kill, or the last creation, until every invoice was final, milliseconds. */
  readonly settledInMs: number;
  /** Logged errors. */
  readonly complaints: readonly string[];
}

/** Short pauses, so that a run takes minutes; the number of attempts is that of the service. */
const SCHEDULE = '0s,1s,2s,4s,8s';

/**
 * Returns all faults of the simulator that the protocol makes harmless, each for this fraction of the calls, with real
 * time-outs.
 */
export function realFaults(rate: number): FaultRule[] {
  return [{ kind: 'mixed', rate }];
}

/**
 * Runs the service with live keys against the simulator, whose calls fail as planned, and kills the service at random
 * moments. Each start uses the same folder. Ends when every document is final, or when patience ends.
 */
export async function runLiveChaos(plan: LiveChaosPlan): Promise<LiveChaosOutcome> {
  const random = randomNumbers(plan.seed);
  const [dataDir, port] = await Promise.all([mkdtemp(join(tmpdir(), 'live-chaos-')), freePort()]);
  const url = `http://127.0.0.1:${port}`;
  const simulator = await startSimulator({
    profile: plan.profile,
    seed: plan.seed,
    callbackUrl: `${url}/authority/callback`,
    decisionDelay: plan.profile === 'synchronous' ? 0 : 1000,
    limits: { submissions_per_minute: 6000, lookups_per_minute: 6000 },
  });
  const settings = {
    ...simulator.settings,
    DATA_DIR: dataDir,
    PORT: String(port),
    PUBLIC_URL: url,
    DGI_RETRY_SCHEDULE: SCHEDULE,
    RATE_LIMIT_SECRET: '1000000',
    CHROMIUM_PATH: '/nonexistent',
    LOG_LEVEL: 'error',
  };
  const server = doomedServer(settings);
  plan.signal.addEventListener('abort', () => void server.kill());
  try {
    await server.start();
    const key = await liveKey(settings);
    for (const fault of plan.faults) simulator.control.addFault(fault);
    const creating = orderAll(server, key, plan, random);
    const kills = await killNowAndThen(server, plan, random, creating);
    const orders = await creating;
    const quietAt = performance.now();
    const facts = await settled(dataDir, plan.patienceMs);
    const settledInMs = Math.round(performance.now() - quietAt);
    const counters = simulator.control.counters();
    await server.stop();
    return {
      plan,
      orders,
      ...facts,
      kills,
      settledInMs,
      ledger: simulator.control.ledger(),
      doubled: counters.ledger.doubled,
      faults: counters.faults,
      peakPuts: counters.puts.peak,
      complaints: server.seen.complaints,
    };
  } finally {
    await server.kill();
    await simulator.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Completes the demo tenant's profile and creates a live secret key for it. */
async function liveKey(settings: Record<string, string>): Promise<string> {
  const administration = await openAdministration(readConfig(settings));
  try {
    const [listed] = await administration.tenants.list();
    if (listed === undefined) throw new Error('there is no demo tenant');
    await administration.tenants.updateProfile(listed.id, { ...SPECIMEN_SELLER, ice: '001525713000085' });
    return (await administration.manageKeys.create(listed.id, 'secret', 'live')).token;
  } finally {
    await administration.close();
  }
}

async function killNowAndThen(
  server: DoomedServer,
  { kills: least, killEveryMs }: LiveChaosPlan,
  random: () => number,
  creating: Promise<unknown>,
): Promise<number> {
  let isCreating = least > 0;
  const ended = () => {
    isCreating = false;
  };
  creating.then(ended, ended);
  let kills = 0;
  while (kills < least || isCreating) {
    await sleep((0.5 + random()) * killEveryMs);
    await server.kill();
    kills++;
    await server.start();
  }
  return kills;
}

/** Reads the store as soon as every document is final, or when patience ends. */
async function settled(
  dataDir: string,
  patienceMs: number,
): Promise<Pick<LiveChaosOutcome, 'documents' | 'published' | 'inconsistencies'>> {
  const { db, close } = await runningStore(dataDir);
  try {
    const invoices = db.collection<InvoiceDocument>('invoices');
    const open = { $or: [{ status: { $nin: ['accepted', 'rejected'] as const } }, { outbox: { $exists: true } }] };
    const end = Date.now() + patienceMs;
    while (Date.now() < end && (await invoices.countDocuments(open as never, { limit: 1 })) > 0) await sleep(200);
    const published = new Map<string, string[]>();
    const events = db.collection<{ invoiceId: string; type: string }>('webhook_events');
    for (const { invoiceId, type } of await events.find().sort({ order: 1 }).toArray())
      published.set(invoiceId, [...(published.get(invoiceId) ?? []), type]);
    const inconsistencies = await Array.fromAsync(findInconsistencies(db));
    return { documents: await invoices.find().toArray(), published, inconsistencies };
  } finally {
    await close();
  }
}
