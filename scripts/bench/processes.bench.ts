import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineProcess, startEngineProcess } from '../../test/support/engine-process.ts';
import { type BenchProcess, startProcess } from './bench-process.ts';
import type { Benchmark, Measured, Settings, Side } from './harness.ts';
import { processes, usageOf } from './process-tree.ts';
import type { ProcessAnswer, ProcessOptions, ProcessRequest, StartedProcess } from './processes-work.ts';
import { invoiceBody } from './throughput-invoice.ts';
import type { ClientsAnswer, ClientsRequest } from './throughput-work.ts';

/** Processes of clients; they take the api processes in turn. */
const CLIENTS = 2;
/** Time that a started side has to come to rest, and in which its workers divide the partitions, milliseconds. */
const SETTLE_MS = 4000;

/**
 * Several processes on one store against one of each: CPU time an invoice, and claims that no other worker won. On the
 * server of TEST_MONGODB_URL, or on an engine in a process of its own, whose CPU time is not counted. Two cores do not
 * show what more of them would accept.
 */
export const benchmark: Benchmark = {
  name: 'processes',
  about: 'two api and four worker processes on one store; the peer is one of each',
  sides: [side('2 api, 4 workers', 2, 4), side('1 api, 1 worker', 1, 1)],
  answers: 'incomparable',
  repeats: 5,
  warmups: 1,
};

type Service = BenchProcess<StartedProcess, ProcessRequest, ProcessAnswer>;
type Clients = BenchProcess<'ready', ClientsRequest, ClientsAnswer>;

function side(name: string, apis: number, workers: number): Side {
  const folders: string[] = [];
  let engine: EngineProcess | null = null;
  const api: Service[] = [];
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
      const start = async (role: ProcessOptions['role']) => {
        const started: Service = await startProcess('processes-service.ts', [JSON.stringify({ role, ...shared })]);
        all.push(started);
        if (role === 'api') api.push(started);
      };
      // The first one alone, because it makes the indexes and the test identity.
      for (let nth = 0; nth < apis; nth++) await start('api');
      for (let nth = 0; nth < workers; nth++) await start('worker');
      for (let nth = 0; nth < CLIENTS; nth++) clients.push(await startProcess('throughput-clients.ts'));
      await sleep(SETTLE_MS);
    },
    run: (settings) => underLoad(settings, { api, all, clients }),
    async close() {
      await Promise.all([...clients, ...all].map((each) => each.close()));
      await engine?.kill();
      await Promise.all(folders.map((each) => rm(each, { recursive: true, force: true, maxRetries: 3 })));
    },
  };
}

async function underLoad(
  { quick, lines }: Settings,
  { api, all, clients }: { api: Service[]; all: Service[]; clients: Clients[] },
): Promise<Measured> {
  const [first] = api as [Service];
  const { service } = await first.ask({ do: 'make tenant' });
  if (!service) throw new Error('no tenant was made');
  const [cpuBefore, claimsBefore] = [cpuOf(all), await claimsOf(all)];
  const share = (quick ? 100 : 600) / clients.length;
  const body = invoiceBody(lines);
  const answers = await Promise.all(
    clients.map((each, nth) =>
      each.ask({
        service: { url: api[nth % api.length]?.ready.url ?? '', secretKey: service.secretKey },
        ...{ body, count: share, rate: null, pdfEvery: 0 },
      }),
    ),
  );
  const { atMs = Number.NaN, left = 0 } = await first.ask({ do: 'drain', tenantId: service.tenantId });
  if (left > 0) throw new Error(`${left} invoices were not accepted`);
  const count = share * clients.length;
  const claims = await claimsOf(all);
  const found = claims.found - claimsBefore.found;
  return {
    rates: { accepted: (count / (atMs - Math.min(...answers.map(({ startedAtMs }) => startedAtMs)))) * 1000 },
    counts: {
      'CPU ms an invoice, store not included': (cpuOf(all) - cpuBefore) / count,
      // Not the lost ones, because a side that loses none has no ratio to another one.
      'claims that no other worker won (%)': (100 * (claims.claimed - claimsBefore.claimed)) / found,
    },
  };
}

/** CPU time of the processes and those below them, milliseconds. */
function cpuOf(all: readonly Service[]): number {
  const now = processes();
  return all.reduce((total, { pid }) => total + usageOf(pid, now).service.cpuMs, 0);
}

async function claimsOf(all: readonly Service[]): Promise<{ found: number; claimed: number }> {
  const counts = await Promise.all(all.map(async (each) => (await each.ask({ do: 'count claims' })).claims));
  return {
    found: counts.reduce((total, each) => total + (each?.found ?? 0), 0),
    claimed: counts.reduce((total, each) => total + (each?.claimed ?? 0), 0),
  };
}
