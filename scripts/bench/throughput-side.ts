import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchProcess, SERVICE_OPTIONS, startProcess } from './bench-process.ts';
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

/** The process of a side, and the process of its clients. */
export interface Contestants {
  readonly service: Service;
  /** @param task.lines of each invoice, if not the run's own number */
  create(
    task: Pick<ClientsRequest, 'count' | 'rate' | 'pdfEvery'> & { readonly lines?: number },
  ): Promise<ClientsAnswer>;
  close(): Promise<void>;
}

/**
 * Our side of a benchmark with a measurement of its own.
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

/** Pause before the idle memory of an opened side is read, milliseconds. */
const SETTLE_MS = 3000;
function refuseLost(left: number): void {
  throw new Error(`${left} invoices were not accepted`);
}

const lostBy = (kind: ThroughputKind) => (kind === 'stock' ? tellLost : refuseLost);

/**
 * Reports lost invoices. The stock side has no retries, so an invoice whose job fails or is lost stays unfinished. Only
 * accepted invoices count.
 */
function tellLost(left: number): void {
  process.stderr.write(`five stock Agenda jobs left ${left} invoices unaccepted\n`);
}

/** Maximum number of invoices whose store commands are counted. */
const COUNTED = 150;

/** Pause between two readings of memory under load, milliseconds. */
const SAMPLE_MS = 200;

/** Resident memory of a service, bytes. */
export interface Memory {
  /** Memory of its process and of its descendants without Chromium. */
  readonly service: number;
  /** With Chromium. */
  readonly whole: number;
}

/** Reads the memory of the service with this process id. */
export function memoryOf(pid: number): Memory {
  const { service, chromium } = usageOf(pid, processes());
  return { service: service.residentBytes, whole: service.residentBytes + chromium.residentBytes };
}

/** Reads the memory at regular intervals. @returns a function that ends this and returns the peaks since the call */
function watchMemory(pid: number): () => Memory {
  let peak = memoryOf(pid);
  const look = () => {
    const { service, whole } = memoryOf(pid);
    peak = { service: Math.max(peak.service, service), whole: Math.max(peak.whole, whole) };
  };
  const sampler = setInterval(look, SAMPLE_MS);
  return () => {
    clearInterval(sampler);
    look();
    return peak;
  };
}

/** Starts the service of a side and its clients. */
async function startContestants(
  { lines }: Settings,
  options: { readonly kind: ThroughputKind; readonly pdfs: boolean; readonly countCommands?: boolean },
): Promise<Contestants> {
  const service: Service = await startProcess(
    'throughput-service.ts',
    [JSON.stringify({ countCommands: false, ...options })],
    SERVICE_OPTIONS,
  );
  const clients = await startProcess<'ready', ClientsRequest, ClientsAnswer>('throughput-clients.ts').catch(
    async (error) => {
      await service.close();
      throw error;
    },
  );
  return {
    service,
    create: ({ lines: own = lines, ...task }) =>
      clients.ask({ service: service.ready, body: invoiceBody(own), ...task }),
    async close() {
      await Promise.all([service.close(), clients.close()]);
    },
  };
}

/** Makes a side that creates invoices with 32 clients and waits until all are accepted. */
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
      idle = memoryOf(contestants.service.pid).service;
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
 * @param onLost called with the number of invoices that were never accepted; by default it throws
 * @param lines number of lines per invoice, if not that of the run
 * @returns the figures, the peaks of memory, and the time in milliseconds from the first request until the last PDF had
 *   arrived, too
 */
export async function underLoad(
  { service, create }: Contestants,
  count: number,
  pdfEvery: number,
  onLost = refuseLost,
  lines?: number,
): Promise<{ readonly measured: Measured; readonly peak: Memory; readonly wholeMs: number }> {
  const before = usageOf(service.pid, processes()).service;
  const endWatch = watchMemory(service.pid);
  try {
    const task = { count, rate: null, pdfEvery, ...(lines !== undefined && { lines }) };
    const { startedAtMs, createdAtMs, downloadedAtMs, latencies } = await create(task);
    const { atMs = Number.NaN, left = 0 } = await service.ask({ do: 'drain' });
    if (left > 0) onLost(left);
    const after = usageOf(service.pid, processes()).service;
    const rates = {
      created: (count / (createdAtMs - startedAtMs)) * 1000,
      accepted: ((count - left) / (atMs - startedAtMs)) * 1000,
    };
    const peak = endWatch();
    const counts = {
      'CPU ms an invoice': (after.cpuMs - before.cpuMs) / count,
      'peak memory (MB)': megabytes(peak.service),
    };
    const measured = { rates, latencies: { create: latencies }, counts };
    return { measured, peak, wholeMs: Math.max(atMs, downloadedAtMs) - startedAtMs };
  } finally {
    endWatch();
  }
}

/**
 * Counts in a separate process, because counting slows the driver down. The first invoices are not counted.
 * @returns the number of store commands per invoice under load, by `name collection`
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

export const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
