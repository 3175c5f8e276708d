import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { type ChaosFacts, readFacts } from './chaos-facts.ts';
import { type DoomedServer, doomedServer } from './chaos-server.ts';
import { invoiceFor } from './client.ts';

export interface ChaosPlan {
  /** Seed of every random choice of the run. The machine's timing decides the rest. */
  readonly seed: number;
  readonly creations: number;
  /** Number of kills (kill -9) during the creations. A start after a kill may be killed, too. */
  readonly kills: number;
  /** Number of clients that create at the same time. */
  readonly clients: number;
  /** Settings of the service besides its folder, port and limits. */
  readonly environment: Readonly<Record<string, string>>;
  /** The e-mail address of every customer; null: customers have none. */
  readonly email: string | null;
  /** Whether the run also waits for PDFs, and until the jobs of dead workers are gone. */
  readonly complete: boolean;
  /** Maximum time until the last process has finished all work, milliseconds. */
  readonly patienceMs: number;
  /** Stops the service when the test is aborted. */
  readonly signal: AbortSignal;
}

/** The outcome of a run. */
export interface ChaosOutcome extends ChaosFacts {
  /** As in the plan. */
  readonly complete: boolean;
  /** The creations by their Idempotency-Key. */
  readonly created: ReadonlyMap<string, Creation>;
  /** Answers other than 201. Must be empty. */
  readonly refused: readonly string[];
  /** Number of all kills, and of those that hit a process before it served. */
  readonly kills: number;
  readonly killsOfStarts: number;
  /** Number of requests that lost their connection and were repeated. */
  readonly broken: number;
  /** When each process began to serve, UNIX milliseconds. */
  readonly readyAt: readonly number[];
  /** Logged errors, and processes that ended by themselves. Must be empty. */
  readonly complaints: readonly string[];
  /** The exit code of the last process, which was stopped as an operator would. */
  readonly exitCode: number | null;
}

export interface Creation {
  readonly ice: string;
  /** The ids in all 201 answers for the key. There must be exactly one. */
  readonly ids: Set<string>;
  /** When the first answer came, UNIX milliseconds. */
  readonly answeredAt: number;
}

export const ORDINARY_ICE = '001234567000089';
export const REJECTING_ICE = '999000000000102';
const LOST_REPLY_ICE = '999000000000684';
const UNAVAILABLE_TWICE_ICE = '999000000000490';
const ICES = [...Array(7).fill(ORDINARY_ICE), REJECTING_ICE, LOST_REPLY_ICE, UNAVAILABLE_TWICE_ICE] as string[];

/**
 * Maximum delay between a creation and the kill that it triggers, milliseconds. Most delays are below a tenth of it, so
 * that the kill hits one of the stages.
 */
const KILL_WITHIN_MS = 2500;
/**
 * Number of invoices that are created at the same time and followed by a kill as soon as all are answered. Most of them
 * are unprocessed then.
 */
const LAST_ORDERS = 5;
/** Maximum pause of a client between two creations, milliseconds. */
const PAUSE_MS = 200;
/** Probability that a start is killed, too, and the maximum delay of that kill after the start. */
const START_KILLED = 0.25;
const START_MS = 1200;
/** A request that takes longer has lost its server without an error. */
const REQUEST_LIMIT_MS = 20_000;

/** Returns a new seed, or that of CHAOS_SEED, and prints it, so that a failed run can be repeated. */
export function chaosSeed(): number {
  const seed = Number(process.env.CHAOS_SEED ?? randomInt(1_000_000));
  console.log(`CHAOS_SEED=${seed}`);
  return seed;
}

/**
 * Runs the service in its own process on the embedded engine and kills it at random moments while clients create
 * invoices. Each start uses the same folder. A client whose connection breaks repeats its request with the same
 * Idempotency-Key until it is answered. The last kill comes with the last creations. Then the service gets time to
 * finish, every key is sent once more, and the store is read.
 */
export async function runChaos(plan: ChaosPlan): Promise<ChaosOutcome> {
  const random = randomNumbers(plan.seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'chaos-'));
  const server = doomedServer({ ...plan.environment, DATA_DIR: dataDir, RATE_LIMIT_SECRET: '1000000' });
  plan.signal.addEventListener('abort', () => void server.kill());
  try {
    await server.start();
    const orders = Array.from({ length: plan.creations - LAST_ORDERS }, (_, i) => ({
      key: `order-${i}`,
      ice: ICES[Math.floor(random() * ICES.length)]!,
    }));
    const last = Array.from({ length: LAST_ORDERS }, (_, i) => ({ key: `last-${i}`, ice: ORDINARY_ICE }));
    const clients = createClients(server, random, plan.email);
    const killer = createKiller(server, killMoments(orders.length, plan.kills - 1, random), random);
    await Promise.all([clients.create(orders, plan.clients, killer.reached), killer.finished]);
    await clients.create(last, last.length);
    await killer.killNow();
    await readFacts(dataDir, plan);
    // A client that never received its answer repeats the request much later.
    await clients.create([...orders, ...last], plan.clients);
    const facts = await readFacts(dataDir, plan);
    const exitCode = await server.stop();
    return { complete: plan.complete, ...facts, ...clients.seen, ...killer.done, ...server.seen, exitCode };
  } finally {
    await server.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface Order {
  readonly key: string;
  readonly ice: string;
}

function createClients(server: DoomedServer, random: () => number, email: string | null) {
  const created = new Map<string, Creation>();
  const seen = { created, refused: [] as string[], broken: 0 };

  async function createOne({ key, ice }: Order): Promise<void> {
    for (;;) {
      const url = await server.url();
      try {
        const response = await fetch(`${url}/v1/invoices`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${server.secretKey()}`,
            'Content-Type': 'application/json',
            'Idempotency-Key': key,
          },
          body: JSON.stringify(invoiceFor(ice, email)),
          signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
        });
        const answer = (await response.json()) as { id: string };
        if (response.status !== 201) {
          seen.refused.push(`${response.status} ${JSON.stringify(answer)}`);
          return;
        }
        const creation = created.get(key) ?? { ice, ids: new Set(), answeredAt: Date.now() };
        created.set(key, creation);
        creation.ids.add(answer.id);
        return;
      } catch {
        seen.broken++;
        await sleep(20);
      }
    }
  }

  return {
    seen,
    /** @param answered called with the number of orders answered so far */
    async create(orders: readonly Order[], count: number, answered?: (count: number) => void): Promise<void> {
      const waiting = [...orders];
      let done = 0;
      const work = async () => {
        for (let order = waiting.shift(); order; order = waiting.shift()) {
          await createOne(order);
          answered?.(++done);
          if (waiting.length > 0) await sleep(random() * PAUSE_MS);
        }
      };
      await Promise.all(Array.from({ length: count }, work));
    },
  };
}

/** Returns the numbers of answers after which the service is killed, ascending. */
function killMoments(creations: number, kills: number, random: () => number): number[] {
  return Array.from({ length: kills }, () => 1 + Math.floor(random() * creations)).sort((a, b) => a - b);
}

function createKiller(server: DoomedServer, moments: readonly number[], random: () => number) {
  const done = { kills: 0, killsOfStarts: 0 };
  let answered = 0;
  let wake: () => void = () => undefined;

  async function killNow(): Promise<void> {
    await server.kill();
    done.kills++;
    while (random() < START_KILLED) {
      const served = server.seen.readyAt.length;
      const starting = server.start();
      await sleep(random() * START_MS);
      await server.kill();
      await starting;
      done.kills++;
      if (server.seen.readyAt.length === served) done.killsOfStarts++;
    }
    await server.start();
  }

  const run = async () => {
    for (const moment of moments) {
      while (answered < moment) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      await sleep(random() ** 3 * KILL_WITHIN_MS);
      await killNow();
    }
  };
  return {
    done,
    killNow,
    finished: run(),
    reached(count: number) {
      answered = Math.max(answered, count);
      wake();
    },
  };
}
