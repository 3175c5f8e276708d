import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkStore } from '../../src/app/check-store.ts';
import { readConfig } from '../../src/config.ts';
import { type DoomedServer, doomedServer } from './chaos-server.ts';
import { Client, invoiceBody } from './client.ts';
import { type Received, startReceiver } from './receiver.ts';

export interface WebhookChaosPlan {
  readonly invoices: number;
  /** Number of kills (kill -9) of the whole service, spread over the creations. */
  readonly kills: number;
  /** Maximum duration of all work after the last creation, milliseconds. */
  readonly patienceMs: number;
  /** Stops the service when the test is aborted. */
  readonly signal: AbortSignal;
}

export interface WebhookChaosOutcome {
  /** The events in the service's own log, with their types and invoices. */
  readonly events: ReadonlyMap<string, { id: string; type: string; invoiceId: string }>;
  /** By receiver: the events that it accepted, in the order of their first arrival. */
  readonly taken: ReadonlyMap<string, string[]>;
  /** By receiver: the events of which at least one attempt arrived. */
  readonly attempted: ReadonlyMap<string, Set<string>>;
  /** Number of deliveries that a receiver had accepted before. There should be few. */
  readonly duplicates: number;
  readonly complaints: readonly string[];
  /** The faults of the store, after each kill and at the end. */
  readonly faults: readonly string[];
}

/** Receivers that accept everything in the end, each with other failures before. */
export const TAKERS = ['good', 'error', 'redirect', 'busy', 'gone', 'reset', 'gigabyte'] as const;
/** A receiver that accepts everything but takes the whole time limit of an attempt, and one that never answers. */
const SLOW = ['drip', 'hang'] as const;

type Answer = Parameters<Awaited<ReturnType<typeof startReceiver>>['answer']>[0];

/** The first answer of each receiver to a new event. Later attempts get 200. */
const FIRST_ANSWERS: Readonly<Record<string, Answer>> = {
  error: (_request, response) => response.writeHead(500).end(),
  redirect: (_request, response) => response.writeHead(302, { Location: '/good' }).end(),
  busy: (_request, response) => response.writeHead(429, { 'Retry-After': '3600' }).end(),
  gone: (_request, response) => response.writeHead(410).end(),
  reset: (request) => request.socket.resetAndDestroy(),
};

/**
 * Runs a service with an endpoint for each receiver, kills and restarts it while invoices are created, and waits for
 * every delivery.
 */
export async function runWebhookChaos(plan: WebhookChaosPlan): Promise<WebhookChaosOutcome> {
  const receiver = await startReceiver();
  const dataDir = await mkdtemp(join(tmpdir(), 'webhook-chaos-'));
  const server = doomedServer({
    DATA_DIR: dataDir,
    RATE_LIMIT_SECRET: '1000000',
    ALLOW_INSECURE_WEBHOOKS: 'true',
    WEBHOOK_RETRY_SCHEDULE: '0s,200ms,400ms,800ms,1600ms,3s,3s,3s,3s,3s',
    CHROMIUM_PATH: '/nonexistent',
  });
  plan.signal.addEventListener('abort', () => void server.kill());
  const names = [...TAKERS, ...SLOW];
  const taken = new Map(names.map((name) => [name as string, [] as string[]]));
  const attempted = new Map(names.map((name) => [name as string, new Set<string>()]));
  let duplicates = 0;
  const faults: string[] = [];
  const check = () =>
    checkStore(
      readConfig({ DATA_DIR: dataDir }),
      (text) => faults.push(text),
      () => undefined,
    );
  receiver.answer((request, response, { path, event }: Received) => {
    const name = path.slice(1);
    const seen = attempted.get(name);
    const isFirst = seen?.has(event.id) === false;
    seen?.add(event.id);
    if (name === 'hang') return;
    const first = FIRST_ANSWERS[name];
    if (isFirst && first) return first(request, response, receiver.received.at(-1) as Received);
    if (taken.get(name)?.includes(event.id)) duplicates++;
    else taken.get(name)?.push(event.id);
    if (name === 'drip') return drip(response);
    if (name === 'gigabyte') return flood(response);
    response.end('ok');
  });
  try {
    await server.start();
    const client = new Client(await server.url(), server.secretKey());
    for (const name of names) {
      const events = ['invoice.signing', 'invoice.transmitted', 'invoice.accepted'];
      await client.post('/v1/webhook_endpoints', { url: `${receiver.url}/${name}`, events });
    }
    const created: string[] = [];
    const killAfter = new Set(
      Array.from({ length: plan.kills }, (_, i) => Math.floor(((i + 1) * plan.invoices) / (plan.kills + 1))),
    );
    for (let i = 0; i < plan.invoices; i++) {
      created.push(await create(server, `order-${i}`));
      if (!killAfter.has(i)) continue;
      // At different moments among its stages and deliveries.
      await sleep(30 + 40 * (i % 4));
      await server.kill();
      await check();
      await server.start();
    }
    const events = await everyEvent(server, created.length * 3, plan.patienceMs);
    await until(plan.patienceMs, () => {
      const isComplete = (name: string) => taken.get(name)?.length === events.size;
      return TAKERS.every(isComplete) && [...attempted.values()].every(({ size }) => size === events.size);
    });
    await server.stop();
    await check();
    return { events, taken, attempted, duplicates, complaints: server.seen.complaints, faults };
  } finally {
    await server.kill();
    await receiver.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function create(server: DoomedServer, key: string): Promise<string> {
  for (;;) {
    try {
      const client = new Client(await server.url(), server.secretKey());
      const { status, body } = await client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': key });
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body.id;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      await sleep(50);
    }
  }
}

/** Reads the log until it contains `count` events. */
async function everyEvent(server: DoomedServer, count: number, patienceMs: number) {
  const query = `query ($after: String) { webhookEvents(first: 100, after: $after) {
    edges { node { id type invoiceId } } pageInfo { hasNextPage endCursor } } }`;
  const events = new Map<string, { id: string; type: string; invoiceId: string }>();
  await until(patienceMs, async () => {
    const client = new Client(await server.url(), server.secretKey());
    let after: string | null = null;
    do {
      const { body } = await client.graphql(query, { after });
      const page: { edges: { node: { id: string } }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } =
        body.data.webhookEvents;
      for (const { node } of page.edges) events.set(node.id, node as { id: string; type: string; invoiceId: string });
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
    return events.size >= count;
  });
  return events;
}

/** Waits until `isDone`, or until patience ends. The test itself reports what is missing then. */
async function until(patienceMs: number, isDone: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await isDone()) && Date.now() < end) await sleep(50);
}

function drip(response: Parameters<Answer>[1]): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 1000);
  response.on('close', () => clearInterval(timer));
}

function flood(response: Parameters<Answer>[1]): void {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let left = 2 ** 30;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  response.writeHead(200);
  more();
}
