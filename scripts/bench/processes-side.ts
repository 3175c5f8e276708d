import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineProcess, startEngineProcess } from '../../test/support/engine-process.ts';
import { type BenchProcess, startProcess } from './bench-process.ts';
import type { Measured, Settings, Side } from './harness.ts';
import { type ProcessFacts, processes, usageOf } from './process-tree.ts';
import type { ProcessAnswer, ProcessOptions, ProcessRequest, StartedProcess } from './processes-work.ts';
import { invoiceBody } from './throughput-invoice.ts';
import type { ClientsAnswer, ClientsRequest } from './throughput-work.ts';

/** Processes of clients; they take the api processes in turn. */
const CLIENTS = 2;
/** Time in which a started side comes to rest and its workers divide the partitions, milliseconds. */
const SETTLE_MS = 4000;

type Service = BenchProcess<StartedProcess, ProcessRequest, ProcessAnswer>;
type Clients = BenchProcess<'ready', ClientsRequest, ClientsAnswer>;

/** The processes of a side, and their tasks. */
export interface ProcessesSide {
  readonly name: string;
  /** The api processes that clients send invoices to. */
  readonly apis: number;
  readonly workers: number;
  /** Further api processes, which get no requests; with `follow` each follows every change of invoices and events. */
  readonly idle?: { readonly count: number; readonly follow: boolean };
}

/**
 * Processes of the unmodified service on one store of their own: the server of TEST_MONGODB_URL, or an engine in a
 * process of its own.
 */
export function processesSide({ name, apis, workers, idle }: ProcessesSide): Side {
  const folders: string[] = [];
  let engine: EngineProcess | null = null;
  const api: Service[] = [];
  const idlers: Service[] = [];
  const all: Service[] = [];
  const clients: Clients[] = [];

  async function folder(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), 'processes-'));
    folders.push(made);
    return made;
  }

  async function storeUrl(): Promise<string> {
    const given = process.env.TEST_MONGODB_URL;
    if (!given) engine = await startEngineProcess(await folder(), '--port', '0');
    const url = new URL(engine?.uri ?? given ?? '');
    url.pathname = `/bench_${randomBytes(6).toString('hex')}`;
    return url.href;
  }

  return {
    name,
    async open() {
      const shared = { mongodbUrl: await storeUrl(), dataDir: await folder() };
      const start = async (role: ProcessOptions['role'], count: number, group: Service[]) => {
        for (let nth = 0; nth < count; nth++)
          group.push(await startProcess('processes-service.ts', [JSON.stringify({ role, ...shared })]));
      };
      // The first one alone, because it makes the indexes and the test identity.
      await start('api', apis, api);
      all.push(...api);
      await start('worker', workers, all);
      if (idle) await start('api', idle.count, idlers);
      if (idle?.follow) for (const each of idlers) await each.ask({ do: 'follow' });
      for (let nth = 0; nth < CLIENTS; nth++) clients.push(await startProcess('throughput-clients.ts'));
      await sleep(SETTLE_MS);
    },
    run: (settings) => underLoad(settings, { api, all, clients, idlers, store: engine?.child.pid ?? null }),
    async close() {
      await Promise.all([...clients, ...idlers, ...all].map((each) => each.close()));
      await engine?.kill();
      await Promise.all(folders.map((each) => rm(each, { recursive: true, force: true, maxRetries: 3 })));
    },
  };
}

interface Parts {
  readonly api: readonly Service[];
  /** The working processes: `api` and the workers. */
  readonly all: readonly Service[];
  readonly clients: readonly Clients[];
  readonly idlers: readonly Service[];
  /** The process of the engine; null if the store is another one. */
  readonly store: number | null;
}

async function underLoad({ quick, lines }: Settings, { api, all, clients, idlers, store }: Parts): Promise<Measured> {
  const [first] = api as readonly [Service];
  const { service } = await first.ask({ do: 'make tenant' });
  if (!service) throw new Error('no tenant was made');
  const [before, claimsBefore] = [processes(), await claimsOf(all)];
  // Enough that the compilers of four workers, which share them, matter little.
  const share = (quick ? 100 : 1500) / clients.length;
  const body = invoiceBody(lines);
  const answers = await Promise.all(
    clients.map((each, nth) =>
      each.ask({
        service: { url: api[nth % api.length]?.ready.url ?? '', secretKey: service.secretKey },
        body,
        count: share,
        rate: null,
        pdfEvery: 0,
      }),
    ),
  );
  const { atMs = Number.NaN, left = 0 } = await first.ask({ do: 'drain', tenantId: service.tenantId });
  if (left > 0) throw new Error(`${left} invoices were not accepted`);
  const count = share * clients.length;
  const after = processes();
  const cpuOf = (pids: readonly number[]) => cpuMs(pids, after) - cpuMs(pids, before);
  const claims = await claimsOf(all);
  const found = claims.found - claimsBefore.found;
  return {
    rates: { accepted: (count / (atMs - Math.min(...answers.map(({ startedAtMs }) => startedAtMs)))) * 1000 },
    counts: {
      'CPU ms an invoice, store not included': cpuOf(all.map(({ pid }) => pid)) / count,
      // Not the lost claims, because a side that loses none has no ratio to another side.
      'claims that no other worker won (%)': (100 * (claims.claimed - claimsBefore.claimed)) / found,
      ...(idlers.length > 0 && {
        'CPU ms an invoice of an api process without requests':
          cpuOf(idlers.map(({ pid }) => pid)) / idlers.length / count,
        ...(store !== null && { 'CPU ms an invoice of the store': cpuOf([store]) / count }),
      }),
    },
  };
}

/** CPU time of processes and those below them, milliseconds. */
function cpuMs(pids: readonly number[], all: readonly ProcessFacts[]): number {
  return pids.reduce((total, pid) => total + usageOf(pid, all).service.cpuMs, 0);
}

async function claimsOf(all: readonly Service[]): Promise<{ found: number; claimed: number }> {
  const counts = await Promise.all(all.map(async (each) => (await each.ask({ do: 'count claims' })).claims));
  return {
    found: counts.reduce((total, each) => total + (each?.found ?? 0), 0),
    claimed: counts.reduce((total, each) => total + (each?.claimed ?? 0), 0),
  };
}
