import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import type { GraphqlServiceMessage } from './graphql-service.ts';
import type { Benchmark, Measured, Side } from './harness.ts';

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

let child: ChildProcess | null = null;
let served: Promise<Served> | null = null;
let users = 0;

/** Both sides use one process. */
function serve(): Promise<Served> {
  users++;
  served ??= (async () => {
    const file = fileURLToPath(new URL('graphql-service.ts', import.meta.url));
    child = fork(file, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    return (await heard()) as Served;
  })();
  return served;
}

async function heard(): Promise<GraphqlServiceMessage> {
  if (!child) throw new Error('nothing serves');
  const end = new AbortController();
  try {
    const ended = once(child, 'exit', { signal: end.signal }).then(([code]) => {
      throw new Error(`the service ended with code ${code}`);
    });
    const [message] = (await Promise.race([once(child, 'message', { signal: end.signal }), ended])) as [unknown];
    return message as GraphqlServiceMessage;
  } finally {
    end.abort();
  }
}

/** The CPU time of the process and of its event loop so far, milliseconds. */
async function cpuTime(): Promise<{ cpuMs: number; loopMs: number }> {
  const answer = heard();
  child?.send('account');
  return (await answer) as { cpuMs: number; loopMs: number };
}

function side(name: string, which: 'ours' | 'stock'): Side {
  let pool: Pool | null = null;
  let service: Served | null = null;

  async function call(nth: number): Promise<string> {
    if (!pool || !service) throw new Error(`${name} is not open`);
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/graphql',
      headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: QUERY, variables: { id: service.invoiceIds[nth % service.invoiceIds.length] } }),
    });
    const text = await body.text();
    if (statusCode !== 200 || text.startsWith('{"errors"')) throw new Error(`${name} answered ${statusCode}: ${text}`);
    return text;
  }

  return {
    name,
    async open() {
      service = await serve();
      pool = new Pool(service[which], { connections: CONNECTIONS });
    },
    async run({ quick }): Promise<Measured> {
      const answers: string[] = [];
      for (let nth = 0; nth < 100; nth++) answers.push(await call(nth));
      const before = await cpuTime();
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
      const after = await cpuTime();
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
      if (--users > 0) return;
      child?.disconnect();
      if (child && child.exitCode === null) await once(child, 'exit');
    },
  };
}
