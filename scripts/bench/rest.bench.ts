import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { WAKE_MS } from '../../src/jobs/stage-jobs.ts';
import { KEY_CACHE_MS } from '../../src/storage/key-cache.ts';
import type { Benchmark, Measured, Side } from './harness.ts';
import { INVOICE } from './rest-invoice.ts';
import type { RestServiceMessage } from './rest-service.ts';
import { sharedProcess } from './shared-process.ts';

/** Number of concurrent requests. */
const CONNECTIONS = 32;
/** How long after its answer a creation may still queue its job, milliseconds. */
const AFTER_ANSWER_MS = 200;

/**
 * The REST interface under load. The peer is bare Koa in the same process and on the same store. For a single request
 * it makes the same driver calls (verified) and answers the same bytes (compared, except random parts of a creation).
 */
export const benchmark: Benchmark = {
  name: 'rest',
  about: `read one, list 20 and create, ${CONNECTIONS} at a time; the peer is bare Koa with the same bytes and, for a request alone, the same driver calls`,
  sides: [side('ours', 'ours'), side('bare Koa', 'bare')],
  answers: 'equal',
};

type Served = Extract<RestServiceMessage, { ours: string }>;

type Account = Extract<RestServiceMessage, { cpuMs: number }>;

/** Both sides use one process. It reports the work since the last call. */
const service = sharedProcess<Served, Account>('rest-service.ts');

function side(name: string, which: 'ours' | 'bare'): Side {
  let pool: Pool | null = null;
  let served: Served | null = null;

  async function call(kind: Kind, nth = 0): Promise<string> {
    if (!pool || !served) throw new Error(`${name} is not open`);
    const { statusCode, body } = await pool.request({
      ...REQUESTS[kind](served, nth),
      headers: { authorization: `Bearer ${served.secretKey}`, 'content-type': 'application/json' },
    });
    const text = await body.text();
    if (statusCode !== (kind === 'create' ? 201 : 200)) throw new Error(`${name} answered ${statusCode}: ${text}`);
    return text;
  }

  /** Makes a single request. @returns its driver calls and its answer */
  async function single(kind: Kind): Promise<{ readonly commands: string[]; readonly answer: string }> {
    // Longer than the service caches a key, because the peer looks it up each time, and in another interval of wake
    // jobs.
    await sleep(2 * Math.max(KEY_CACHE_MS, WAKE_MS));
    await service.account();
    const answer = await call(kind);
    // The job of a new invoice is queued after the answer.
    if (kind === 'create') await sleep(AFTER_ANSWER_MS);
    const { commands } = await service.account();
    if (commands.length === 0) throw new Error(`${name} made no driver call for a request`);
    return { commands: commands.sort(), answer: withoutChance(answer) };
  }

  /**
   * Makes a single request without the removal of old jobs, which at most one creation in five seconds makes, on both
   * sides.
   */
  async function singleWithoutRemoval(kind: Kind): ReturnType<typeof single> {
    const first = await single(kind);
    return first.commands.includes('delete jobs') ? single(kind) : first;
  }

  return {
    name,
    async open() {
      served = await service.enter();
      pool = new Pool(served[which], { connections: CONNECTIONS });
    },
    async run({ quick }): Promise<Measured> {
      const rates: Record<string, number> = {};
      const latencies: Record<string, number[]> = {};
      const counts: Record<string, number> = {};
      const answers: string[] = [];
      for (const kind of ['read', 'list', 'create'] as const) {
        const { commands, answer } = await singleWithoutRemoval(kind);
        answers.push(kind, commands.join(', '), answer);
        const before = await service.account();
        const samples: number[] = [];
        let nth = 0;
        const seconds = await underLoad(quick ? 200 : REQUESTS_A_REPEAT[kind], async () => {
          const start = performance.now();
          // A different invoice each time, because concurrent reads of the same one would be combined.
          await call(kind, nth++);
          samples.push(performance.now() - start);
        });
        // Includes the driver and the embedded engine. Other work on the machine affects CPU time less than throughput.
        counts[`${kind}, CPU µs a request`] =
          ((await service.account()).cpuMs - before.cpuMs) * (1000 / samples.length);
        rates[kind] = samples.length / seconds;
        latencies[kind] = samples;
      }
      return { rates, latencies, counts, answer: answers.join('\n') };
    },
    async close() {
      await pool?.close();
      await service.leave();
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

/** Keeps `CONNECTIONS` calls in progress. @returns seconds */
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

/** Returns the answer to a creation without its random parts. Other answers have none. */
function withoutChance(answer: string): string {
  if (!answer.includes('client_secret')) return answer;
  return answer
    .replaceAll(/inv_[0-9a-f-]{36}/g, 'inv_…')
    .replace(/_secret_[\w-]{32}/, '_secret_…')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '…');
}
