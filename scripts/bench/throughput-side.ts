import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchProcess, startProcess } from './bench-process.ts';
import { COMMANDS_FILE } from './fold-profiles.ts';
import type { Measured, Settings, Side } from './harness.ts';
import { processes, usageOf } from './process-tree.ts';
import { invoiceBody } from './throughput-invoice.ts';
import type {
  ClientsAnswer,
  ClientsRequest,
  ThroughputAnswer,
  ThroughputKind,
  ThroughputRequest,
  ThroughputService,
} from './throughput-work.ts';

type Service = BenchProcess<ThroughputService, ThroughputRequest, ThroughputAnswer>;

/** A side's process, and the one of its clients. */
export interface Contestants {
  readonly service: Service;
  create(task: Pick<ClientsRequest, 'count' | 'rate' | 'pdfEvery'>): Promise<ClientsAnswer>;
  close(): Promise<void>;
}

/**
 * Our side of a benchmark that measures in its own way.
 * @param pdfs whether PDFs are drawn; otherwise the renderer costs nothing
 */
export function ourSide(
  pdfs: boolean,
  measure: (contestants: Contestants, settings: Settings) => Promise<Measured>,
): Side {
  let contestants: Contestants | null = null;
  return {
    name: 'ours',
    async open(settings) {
      contestants = await startContestants(settings, { kind: 'ours', pdfs });
    },
    async run(settings) {
      if (!contestants) throw new Error('the service is not open');
      return measure(contestants, settings);
    },
    close: async () => contestants?.close(),
  };
}

/** Time that an opened side has to come to rest before its idle memory is read, milliseconds. */
const SETTLE_MS = 3000;
function refuseLost(left: number): void {
  throw new Error(`${left} invoices were not accepted`);
}

const lostBy = (kind: ThroughputKind) => (kind === 'stock' ? tellLost : refuseLost);

/** The stock side has no retries: an invoice whose job fails or is lost stays. What it has accepted is counted. */
function tellLost(left: number): void {
  process.stderr.write(`five stock Agenda jobs left ${left} invoices unaccepted\n`);
}

/** Maximum number of invoices whose store commands are counted. */
const COUNTED = 150;

/** Pause between two readings of memory under load, milliseconds. */
const SAMPLE_MS = 200;

/** Starts the service of a side and its clients. */
async function startContestants(
  { lines }: Settings,
  options: { readonly kind: ThroughputKind; readonly pdfs: boolean; readonly countCommands?: boolean },
): Promise<Contestants> {
  const service: Service = await startProcess('throughput-service.ts', [
    JSON.stringify({ countCommands: false, ...options }),
  ]);
  const clients = await startProcess<'ready', ClientsRequest, ClientsAnswer>('throughput-clients.ts').catch(
    async (error) => {
      await service.close();
      throw error;
    },
  );
  const body = invoiceBody(lines);
  return {
    service,
    create: (task) => clients.ask({ service: service.ready, body, ...task }),
    async close() {
      await Promise.all([service.close(), clients.close()]);
    },
  };
}

/** A side that creates invoices with 32 clients and waits until all are accepted. */
export function acceptingSide(name: string, kind: ThroughputKind, invoices: (settings: Settings) => number): Side {
  let contestants: Contestants | null = null;
  let commands: Readonly<Record<string, number>> = {};
  let idle = 0;
  const lost = lostBy(kind);
  return {
    name,
    async open(settings) {
      commands = await countCommands(kind, settings, Math.min(invoices(settings), COUNTED));
      contestants = await startContestants(settings, { kind, pdfs: false });
      await sleep(SETTLE_MS);
      idle = usageOf(contestants.service.pid, processes()).service.residentBytes;
    },
    async run(settings) {
      if (!contestants) throw new Error(`${name} is not open`);
      const { service } = contestants;
      const { profileFolder } = settings;
      if (profileFolder !== null) await service.ask({ do: 'profile' });
      const { measured } = await underLoad(contestants, invoices(settings), 0, lost);
      if (profileFolder !== null) {
        await service.ask({ do: 'write profiles', folder: profileFolder });
        await writeFile(join(profileFolder, COMMANDS_FILE), JSON.stringify(commands));
      }
      await service.ask({ do: 'rest' });
      const { counts, ...rest } = measured;
      return {
        ...rest,
        counts: {
          ...counts,
          'store commands an invoice': Object.values(commands).reduce((sum, each) => sum + each, 0),
          'idle memory (MB)': megabytes(idle),
        },
      };
    },
    close: async () => contestants?.close(),
  };
}

/**
 * Creates `count` invoices in a closed loop and waits until all are accepted.
 * @param pdfEvery see {@link ClientsRequest}
 * @param onLost is told how many invoices were never accepted; by default it throws
 * @returns the figures, and milliseconds from the first request until the last PDF had arrived as well
 */
export async function underLoad(
  { service, create }: Contestants,
  count: number,
  pdfEvery: number,
  onLost = refuseLost,
): Promise<{ readonly measured: Measured; readonly wholeMs: number }> {
  const before = usageOf(service.pid, processes()).service;
  let peak = before.residentBytes;
  const sampler = setInterval(() => {
    peak = Math.max(peak, usageOf(service.pid, processes()).service.residentBytes);
  }, SAMPLE_MS);
  try {
    const { startedAtMs, createdAtMs, downloadedAtMs, latencies } = await create({ count, rate: null, pdfEvery });
    const { atMs = Number.NaN, left = 0 } = await service.ask({ do: 'drain' });
    if (left > 0) onLost(left);
    const after = usageOf(service.pid, processes()).service;
    const rates = {
      created: (count / (createdAtMs - startedAtMs)) * 1000,
      accepted: ((count - left) / (atMs - startedAtMs)) * 1000,
    };
    const counts = {
      'CPU ms an invoice': (after.cpuMs - before.cpuMs) / count,
      'peak memory (MB)': megabytes(Math.max(peak, after.residentBytes)),
    };
    const measured = { rates, latencies: { create: latencies }, counts };
    return { measured, wholeMs: Math.max(atMs, downloadedAtMs) - startedAtMs };
  } finally {
    clearInterval(sampler);
  }
}

/**
 * Counts in a process of its own, because counting slows the driver down. The first invoices are not counted.
 * @returns the number of store commands an invoice under load, by `name collection`
 */
async function countCommands(kind: ThroughputKind, settings: Settings, count: number): Promise<Record<string, number>> {
  const contestants = await startContestants(settings, { kind, pdfs: false, countCommands: true });
  try {
    await underLoad(contestants, Math.ceil(count / 4), 0, lostBy(kind));
    await contestants.service.ask({ do: 'rest' });
    await contestants.service.ask({ do: 'count commands' });
    await underLoad(contestants, count, 0, lostBy(kind));
    const { commands = {} } = await contestants.service.ask({ do: 'count commands' });
    return Object.fromEntries(Object.entries(commands).map(([name, times]) => [name, times / count]));
  } finally {
    await contestants.close();
  }
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
