import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Benchmark, Measured, Side } from './harness.ts';
import type { ReceiverMessage, ReceiverRequest } from './webhook-receiver.ts';
import { type Crowd, crowd, type SideAnswer, type SideRequest } from './webhook-work.ts';

/**
 * Measures the time from the status change to the arrival of the first attempt at 1, 100 and 1,000 endpoints, one in
 * ten of which never answers, and the deliveries per second of a backlog: until all have arrived and been answered, and
 * for our side until they are recorded.
 */
export const benchmark: Benchmark = {
  name: 'webhooks',
  about:
    'status change → first attempt, deliveries/s; the peer signs and posts the same bodies with undici and keeps nothing',
  sides: [side('ours', 'ours'), side('a bare undici loop', 'bare')],
  answers: 'equal',
  repeats: 5,
  warmups: 1,
};

const GAP_MS = 40;
const PER_TENANT = 16;
const DEAD_EACH = 10;
const SIZES = [1, 100, 1000] as const;

function side(name: string, kind: 'ours' | 'bare'): Side {
  let receiver: Peer<ReceiverRequest, ReceiverMessage>;
  let contestant: Peer<SideRequest, SideAnswer>;
  const crowds = new Map<number, Crowd>();
  let many: Crowd;

  async function latencies(size: number, events: number): Promise<number[]> {
    const { tenantIds, endpoints } = crowds.get(size) ?? { tenantIds: [], endpoints: [] };
    // The same tenants for both sides, in turn.
    const chosen = Array.from({ length: events }, (_, i) => tenantIds[i % tenantIds.length] ?? '');
    const alive = chosen.flatMap((tenantId) => endpoints.filter((each) => isAlive(each, tenantId)));
    const arrived = arrivals(alive.length);
    const { events: began } = await contestant.ask({ do: 'happen', tenantIds: chosen, gapMs: GAP_MS });
    const beganAt = new Map(began);
    return (await arrived).map(([id, atMs]) => atMs - (beganAt.get(id) ?? Number.NaN));
  }

  async function arrivals(count: number) {
    receiver.tell({ forget: true });
    const message = await receiver.ask({ count });
    if (!('arrivals' in message)) throw new Error('the receiver did not count');
    return message.arrivals;
  }

  return {
    name,
    async open() {
      receiver = await startPeer('webhook-receiver.ts', []);
      const { url } = receiver.first as { url: string };
      contestant = await startPeer('webhook-side.ts', [kind]);
      for (const size of SIZES) crowds.set(size, crowd(url, size, PER_TENANT, size > 1 ? DEAD_EACH : 0));
      many = crowd(url, 6 * PER_TENANT, PER_TENANT, 0);
      for (const each of [...crowds.values(), many]) await contestant.ask({ do: 'meet', crowd: each });
    },
    async run({ quick }): Promise<Measured> {
      const measured: Record<string, number[]> = {};
      for (const size of SIZES) {
        const events = size === 1000 && !quick ? 63 : 20;
        measured[`${size} endpoint${size > 1 ? 's' : ''}: change → attempt`] = await latencies(size, events);
      }
      const count = quick ? 480 : 1920;
      const tenantIds = Array.from({ length: count / PER_TENANT }, (_, i) => many.tenantIds[i % 6] ?? '');
      await contestant.ask({ do: 'prepare', tenantIds });
      const arrived = arrivals(count);
      const { events } = await contestant.ask({ do: 'deliver' });
      const { overMs = Number.NaN } = await contestant.ask({ do: 'finish' });
      const delivered = await arrived;
      const beganMs = events[0]?.[1] ?? Number.NaN;
      const arrivedMs = Math.max(...delivered.map(([, atMs]) => atMs));
      const rate = (untilMs: number) => (1000 * count) / (untilMs - beganMs);
      const distinct = new Set(delivered.map(([id]) => id)).size;
      const figures = Object.entries(measured).map(([what, samples]) => `${what} ${samples.length}`);
      const rates = { 'deliveries arrived': rate(arrivedMs), 'deliveries recorded': rate(Math.max(arrivedMs, overMs)) };
      return { rates, latencies: measured, answer: `${figures} ${distinct}` };
    },
    async close() {
      await contestant?.end();
      await receiver?.end();
    },
  };
}

function isAlive({ tenantId, url }: Crowd['endpoints'][number], ofTenant: string): boolean {
  return tenantId === ofTenant && !url.includes('/dead/');
}

interface Peer<Request, Answer> {
  /** The message that the process sends when it is ready. */
  readonly first: unknown;
  tell(request: Request): void;
  ask(request: Request): Promise<Answer>;
  end(): Promise<void>;
}

async function startPeer<Request extends object, Answer>(file: string, args: string[]): Promise<Peer<Request, Answer>> {
  const child: ChildProcess = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with code ${code}`);
  });
  ended.catch(() => undefined);
  const heard = async () => ((await Promise.race([once(child, 'message'), ended])) as unknown[])[0];
  return {
    first: await heard(),
    tell: (request) => void child.send(request),
    ask(request) {
      const answer = heard() as Promise<Answer>;
      child.send(request);
      return answer;
    },
    async end() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
