import { Pool } from 'undici';
import type { GraphqlServiceMessage } from './graphql-service.ts';
import type { Benchmark, Measured, Side } from './harness.ts';
import { sharedProcess } from './shared-process.ts';

/** Requests under way at a time. */
const CONNECTIONS = 32;

/** Invoices over /graphql; the peer is stock Yoga in the same process, on the same schema, resolvers, credential check and store. */
export const benchmark: Benchmark = {
  name: 'graphql',
  about: `invoices of 20 lines over /graphql, one of 100 a request, ${CONNECTIONS} at a time; the peer is stock Yoga on the same schema, resolvers, credential check and store`,
  sides: [side('ours', 'ours'), side('stock Yoga', 'stock')],
  answers: 'equal',
};

const QUERY = `query Invoice($id: ID!) {
  invoice(id: $id) {
    id status number amount currency metadata xmlUrl pdfUrl dgiId rejectionReason createdAt updatedAt
    customer { ice name address email }
    totals { subtotal taxTotal total taxTotals { rate base tax } }
    lines { description quantity unitPrice taxRate amount }
  }
}`;

type Served = Extract<GraphqlServiceMessage, { ours: string }>;

type Account = Extract<GraphqlServiceMessage, { cpuMs: number }>;

/** Both sides use one process; it accounts for its CPU time and its event loop's so far, in milliseconds. */
const service = sharedProcess<Served, Account>('graphql-service.ts');

function side(name: string, which: 'ours' | 'stock'): Side {
  let pool: Pool | null = null;
  let served: Served | null = null;

  async function call(nth: number): Promise<string> {
    if (!pool || !served) throw new Error(`${name} is not open`);
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/graphql',
      headers: { authorization: `Bearer ${served.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: QUERY, variables: { id: served.invoiceIds[nth % served.invoiceIds.length] } }),
    });
    const text = await body.text();
    if (statusCode !== 200 || text.startsWith('{"errors"')) throw new Error(`${name} answered ${statusCode}: ${text}`);
    return text;
  }

  return {
    name,
    async open() {
      served = await service.enter();
      pool = new Pool(served[which], { connections: CONNECTIONS });
    },
    async run({ quick }): Promise<Measured> {
      const answers: string[] = [];
      for (let nth = 0; nth < 100; nth++) answers.push(await call(nth));
      const before = await service.account();
      const samples: number[] = [];
      let left = quick ? 3000 : 10_000;
      const start = performance.now();
      await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => {
          while (left-- > 0) {
            const begun = performance.now();
            await call(left);
            samples.push(performance.now() - begun);
          }
        }),
      );
      const seconds = (performance.now() - start) / 1000;
      const after = await service.account();
      const each = (key: 'cpuMs' | 'loopMs') => (after[key] - before[key]) * (1000 / samples.length);
      return {
        operations: samples.length,
        seconds,
        latencies: { query: samples },
        // Other work on the machine distorts it less than the throughput. Beside the event loop it is the embedded engine's, mostly.
        counts: { 'CPU µs a request': each('cpuMs'), 'of them the event loop': each('loopMs') },
        answer: answers.join('\n'),
      };
    },
    async close() {
      await pool?.close();
      await service.leave();
    },
  };
}
