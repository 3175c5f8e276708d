import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { type BenchProcess, startProcess } from './bench-process.ts';
import type { FairnessAnswer, FairnessRequest, FairnessService } from './fairness-work.ts';
import type { Benchmark, Measured, Settings, Side } from './harness.ts';
import { invoiceBody } from './throughput-invoice.ts';

/** Number of measured tenants, and creations per second of each. */
const [TENANTS, RATE] = [9, 0.5];
/** Number of creations of the neighbour per creation of another tenant. */
const TIMES = 100;
const CONNECTIONS = 64;

const seconds = ({ quick }: Settings): number => (quick ? 8 : 40);

/**
 * Measures how long nine tenants wait for their invoices, from creation to acceptance, while a tenth tenant sends a
 * hundred times as many as each of them. The other side measures the same without the tenth tenant. No PDFs.
 */
export const benchmark: Benchmark = {
  name: 'fairness',
  about: `${TENANTS} tenants with ${RATE} creations a second each, beside one with ${TIMES} times as many, and without it`,
  sides: [side('beside a neighbour', true), side('alone', false)],
  answers: 'incomparable',
  repeats: 3,
  warmups: 1,
};

function side(name: string, hasNeighbour: boolean): Side {
  let service: BenchProcess<FairnessService, FairnessRequest, FairnessAnswer> | null = null;
  return {
    name,
    async open() {
      service = await startProcess('fairness-service.ts', [String(TENANTS + 1)]);
    },
    async run(settings): Promise<Measured> {
      if (!service) throw new Error(`${name} is not open`);
      const { url, keys } = service.ready;
      const since = Date.now();
      const pool = new Pool(url, { connections: CONNECTIONS });
      const body = invoiceBody(settings.lines);

      async function create(key: string): Promise<void> {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const answer = await pool.request({ method: 'POST', path: '/v1/invoices', headers, body });
        await answer.body.dump();
        if (answer.statusCode !== 201) throw new Error(`a creation was answered ${answer.statusCode}`);
      }

      const [neighbour = '', ...others] = keys;
      const plans = others.map((key, nth) => atRate(RATE, seconds(settings), nth / TENANTS, () => create(key)));
      if (hasNeighbour) plans.push(atRate(RATE * TIMES, seconds(settings), 0, () => create(neighbour)));
      await Promise.all(plans);
      await pool.close();
      const { invoices } = await service.ask({ since });
      const [ofNeighbour = [], ...ofOthers] = invoices;
      if (hasNeighbour !== ofNeighbour.length > 0) throw new Error('the neighbour has not done what it should');
      return {
        latencies: {
          'create → accepted of the nine': ofOthers.flat().map(({ created, accepted }) => accepted - created),
        },
      };
    },
    async close() {
      await service?.close();
    },
  };
}

/**
 * Calls `work` `perSecond` times a second for some seconds.
 * @param phase fraction of the first pause that has passed
 */
async function atRate(perSecond: number, forSeconds: number, phase: number, work: () => Promise<void>): Promise<void> {
  const start = performance.now();
  const under: Promise<void>[] = [];
  for (let nth = 0; nth < perSecond * forSeconds; nth++) {
    const wait = start + ((nth + phase) * 1000) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    under.push(work());
  }
  await Promise.all(under);
}
