import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { KEY_CACHE_MS } from '../../src/storage/key-cache.ts';
import type { Benchmark, Measured, Side } from './harness.ts';
import { INVOICE } from './rest-invoice.ts';
import type { RestServiceMessage } from './rest-service.ts';

/** Requests under way at a time. */
const CONNECTIONS = 32;

/**
 * The REST interface under load; the peer is bare Koa in the same process and on the same store, which makes the same driver calls for a request alone (checked) and
 * answers the same bytes (compared, what is random in a creation apart).
 */
export const benchmark: Benchmark = {
  name: 'rest',
  about: `read one, list 20 and create, ${CONNECTIONS} at a time; the peer is bare Koa with the same bytes and, for a request alone, the same driver calls`,
  sides: [side('ours', 'ours'), side('bare Koa', 'bare')],
  answers: 'equal',
};

type Served = Extract<RestServiceMessage, { ours: string }>;

let child: ChildProcess | null = null;
let served: Promise<Served> | null = null;
let users = 0;

/** Both sides use one process. */
function serve(): Promise<Served> {
  users++;
  served ??= (async () => {
    const file = fileURLToPath(new URL('rest-service.ts', import.meta.url));
    child = fork(file, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    return (await heard()) as Served;
  })();
  return served;
}

async function heard(): Promise<RestServiceMessage> {
  if (!child) throw new Error('nothing serves');
  const end = new AbortController();
  try {
    const ended = once(child, 'exit', { signal: end.signal }).then(([code]) => {
      throw new Error(`the service ended with code ${code}`);
    });
    const [message] = (await Promise.race([once(child, 'message', { signal: end.signal }), ended])) as [unknown];
    return message as RestServiceMessage;
  } finally {
    end.abort();
  }
}

/** What the process has done since the last call. */
async function account(): Promise<Extract<RestServiceMessage, { cpuMs: number }>> {
  const answer = heard();
  child?.send('account');
  return (await answer) as Extract<RestServiceMessage, { cpuMs: number }>;
}

function side(name: string, which: 'ours' | 'bare'): Side {
  let pool: Pool | null = null;
  let service: Served | null = null;

  async function call(kind: Kind, nth = 0): Promise<string> {
    if (!pool || !service) throw new Error(`${name} is not open`);
    const { statusCode, body } = await pool.request({
      ...REQUESTS[kind](service, nth),
      headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' },
    });
    const text = await body.text();
    if (statusCode !== (kind === 'create' ? 201 : 200)) throw new Error(`${name} answered ${statusCode}: ${text}`);
    return text;
  }

  return {
    name,
    async open() {
      service = await serve();
      pool = new Pool(service[which], { connections: CONNECTIONS });
    },
    async run({ quick }): Promise<Measured> {
      const rates: Record<string, number> = {};
      const latencies: Record<string, number[]> = {};
      const counts: Record<string, number> = {};
      const answers: string[] = [];
      for (const kind of ['read', 'list', 'create'] as const) {
        // Longer than the service remembers a key: the peer looks it up each time.
        await new Promise((resolve) => setTimeout(resolve, 2 * KEY_CACHE_MS));
        await account();
        const answer = await call(kind);
        // A creation queues its job after it has answered.
        if (kind === 'create') await new Promise((resolve) => setTimeout(resolve, 50));
        const before = await account();
        answers.push(kind, before.commands.sort().join(', '), withoutChance(answer));
        const samples: number[] = [];
        let nth = 0;
        const seconds = await underLoad(quick ? 200 : REQUESTS_A_REPEAT[kind], async () => {
          const start = performance.now();
          // Each another invoice: those of one moment that are the same would be read once.
          await call(kind, nth++);
          samples.push(performance.now() - start);
        });
        // The driver and the embedded engine included; other work on the machine distorts it less than the throughput.
        counts[`${kind}, CPU µs a request`] = ((await account()).cpuMs - before.cpuMs) * (1000 / samples.length);
        rates[kind] = samples.length / seconds;
        latencies[kind] = samples;
      }
      return { rates, latencies, counts, answer: answers.join('\n') };
    },
    async close() {
      await pool?.close();
      if (--users > 0) return;
      child?.disconnect();
      if (child && child.exitCode === null) await once(child, 'exit');
    },
  };
}

type Kind = 'read' | 'list' | 'create';

const REQUESTS: Readonly<
  Record<Kind, (service: Served, nth: number) => { method: 'GET' | 'POST'; path: string; body?: string }>
> = {
  read: ({ invoiceIds }, nth) => ({ method: 'GET', path: `/v1/invoices/${invoiceIds[nth % invoiceIds.length]}` }),
  list: ({ until }) => ({ method: 'GET', path: `/v1/invoices?limit=20&created_before=${until}` }),
  create: () => ({ method: 'POST', path: '/v1/invoices', body: JSON.stringify(INVOICE) }),
};

const REQUESTS_A_REPEAT: Readonly<Record<Kind, number>> = { read: 2000, list: 600, create: 800 };

/** Keeps as many calls under way as there are connections. @returns seconds */
async function underLoad(calls: number, call: () => Promise<void>): Promise<number> {
  let left = calls;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) await call();
    }),
  );
  return (performance.now() - start) / 1000;
}

/** A creation's answer without what is different each time; a reading's has nothing of the kind. */
function withoutChance(answer: string): string {
  if (!answer.includes('client_secret')) return answer;
  return answer
    .replaceAll(/inv_[0-9a-f-]{36}/g, 'inv_…')
    .replace(/_secret_[\w-]{32}/, '_secret_…')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '…');
}
