import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { type BenchProcess, startProcess } from './bench-process.ts';
import type { FairnessAnswer, FairnessRequest, FairnessService } from './fairness-work.ts';
import type { Benchmark, Measured, Side } from './harness.ts';
import { invoiceBody } from './throughput-invoice.ts';

/** Number of invoices that one tenant creates at once, and that another tenant creates right after them. */
const [BURST, FEW] = [300, 5];
/** Delay of the second tenant, milliseconds: by then the clients have sent the burst. */
const BEHIND_MS = 10;

/**
 * Measures how long a tenant waits for five invoices, from sending to acceptance, that it creates right after 300
 * concurrent creations of another tenant. The other side measures the same without these. No PDFs.
 */
export const benchmark: Benchmark = {
  name: 'burst',
  about: `${FEW} creations right behind ${BURST} at once of another tenant, and without them`,
  sides: [side('behind a burst', BURST), side('alone', 0)],
  answers: 'incomparable',
  repeats: 10,
  warmups: 3,
};

function side(name: string, burst: number): Side {
  let service: BenchProcess<FairnessService, FairnessRequest, FairnessAnswer> | null = null;
  const pools: Pool[] = [];
  return {
    name,
    async open() {
      service = await startProcess('fairness-service.ts', ['2']);
      // A connection for each creation, which all rounds use.
      const { url } = service.ready;
      pools.push(new Pool(url, { connections: BURST }), new Pool(url, { connections: FEW }));
    },
    async run({ lines }): Promise<Measured> {
      const [many, few] = pools;
      if (!service || !many || !few) throw new Error(`${name} is not open`);
      const [neighbour = '', other = ''] = service.ready.keys;
      const body = invoiceBody(lines);
      const create = async (pool: Pool, key: string): Promise<number> => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const answer = await pool.request({ method: 'POST', path: '/v1/invoices', headers, body });
        await answer.body.dump();
        if (answer.statusCode !== 201) throw new Error(`a creation was answered ${answer.statusCode}`);
        return Date.now();
      };
      const begun = Date.now();
      const crowd = Array.from({ length: burst }, () => create(many, neighbour));
      await sleep(BEHIND_MS);
      const since = Date.now();
      const answers = await Promise.all(Array.from({ length: FEW }, async () => (await create(few, other)) - since));
      await Promise.all(crowd);
      const { invoices } = await service.ask({ since: begun });
      return {
        latencies: {
          'sent → answered': answers,
          'sent → accepted': (invoices[1] ?? []).map(({ accepted }) => accepted - since),
        },
      };
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.close()));
      await service?.close();
    },
  };
}
