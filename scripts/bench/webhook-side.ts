import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Agent } from 'undici';
import type { LogFailure } from '../../src/app/outages.ts';
import { composeWebhooks } from '../../src/app/webhooks.ts';
import { readConfig } from '../../src/config.ts';
import { soleKey } from '../../src/domain/data-keys.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice, InvoiceEvent } from '../../src/domain/invoice/invoice.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { createSecretBox } from '../../src/domain/secret-box.ts';
import { NO_TRACING } from '../../src/domain/tracing.ts';
import { signatureHeaders, signingKey } from '../../src/domain/webhook/signature.ts';
import { eventBody } from '../../src/domain/webhook/webhook-event.ts';
import { createJobs } from '../../src/jobs/agenda.ts';
import { createClaimMembers } from '../../src/storage/claim-members.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createPeriodSums } from '../../src/storage/period-sums.ts';
import { createWebhookEndpointRepository } from '../../src/storage/webhook-endpoints.ts';
import { claimOne, pendingInvoice } from '../../test/support/invoices.ts';
import { startOwnMongo } from '../../test/support/mongodb.ts';
import { openTestStore } from '../../test/support/store.ts';
import { type CrowdEndpoint, machineMs, type SideAnswer, type SideRequest } from './webhook-work.ts';

// Runs one side of `webhooks` in its own process. `ours` is the service's webhooks, from the update that changes an
// invoice's status to the recorded delivery, on the embedded engine or on the server of TEST_MONGODB_URL. `bare` stores
// nothing: it signs each body and posts it with undici.

interface Contestant {
  meet(endpoints: readonly CrowdEndpoint[]): Promise<void>;
  /** Creates an invoice that has no status change yet. */
  create(tenantId: string): Promise<Prepared>;
  /** Waits until every delivery to these tenants has ended. */
  over(tenantIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

interface Prepared {
  /** Changes the status. */
  happen(): Promise<void>;
  /** Delivers the event. */
  tell(): void;
  readonly eventId: string;
}

/** More frequent polls would add load of their own. */
const POLL_MS = 10;
const documentUrl = ({ id }: Pick<Invoice, 'id'>, kind: string) => `https://fatoura.test/${id}.${kind}`;
const contestant = process.argv[2] === 'ours' ? await ours() : bare();
let prepared: (Prepared & { tenantId: string })[] = [];

process.on('message', async (request: SideRequest) => {
  if (request.do === 'finish') {
    await contestant.over([...new Set(prepared.map(({ tenantId }) => tenantId))]);
    process.send?.({ events: [], overMs: machineMs() } satisfies SideAnswer);
  } else process.send?.({ events: await answer(request) } satisfies SideAnswer);
});
process.once('disconnect', async () => {
  await contestant.close();
  process.exit(0);
});
process.send?.('ready');

async function answer(request: Exclude<SideRequest, { do: 'finish' }>): Promise<SideAnswer['events']> {
  if (request.do === 'meet') {
    await contestant.meet(request.crowd.endpoints);
    return [];
  }
  if (request.do === 'deliver') {
    const beganMs = machineMs();
    for (const each of prepared) each.tell();
    return prepared.map(({ eventId }) => [eventId, beganMs]);
  }
  const { tenantIds } = request;
  const invoices = await Promise.all(
    tenantIds.map(async (tenantId) => ({ ...(await contestant.create(tenantId)), tenantId })),
  );
  if (request.do === 'prepare') {
    await Promise.all(invoices.map((each) => each.happen()));
    prepared = invoices;
    return [];
  }
  const events: [string, number][] = [];
  for (const each of invoices) {
    events.push([each.eventId, machineMs()]);
    await each.happen();
    each.tell();
    await sleep(request.gapMs);
  }
  return events;
}

function signing(): InvoiceEvent {
  const change = { type: 'invoice.signing', status: 'signing', dgiId: null, rejectionReason: null } as const;
  return { id: newId('evt'), sequence: 1, ...change, at: new Date() };
}

async function ours(): Promise<Contestant> {
  const config = readConfig({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const store = await openTestStore('bench_webhooks', false, await startOwnMongo());
  const log = pino({ level: 'error' });
  const invoices = createInvoiceRepository(store.db);
  const endpoints = createWebhookEndpointRepository(store.db);
  const keys = { data: soleKey(new Uint8Array(32)) };
  const box = createSecretBox(keys.data, 'webhook-endpoint');
  const logFailure: LogFailure = (level, message, err) => log[level]({ err }, message);
  const jobs = await createJobs({
    db: store.db,
    invoices,
    members: createClaimMembers(store.db),
    soleWorker: true,
    // This side claims its invoices itself. A worker that takes up due invoices could claim them before.
    lanes: [],
    isAnswering: () => false,
    report: (message, err) => logFailure('error', message, err),
  });
  const strangers = {
    tenants: { find: async () => null },
    people: { membersOf: async () => [] },
    notifier: { endpointFails: async () => undefined },
  };
  const parts = {
    config,
    store,
    invoices,
    keys,
    agenda: jobs.agenda,
    documentUrl,
    logFailure,
    alone: true,
    tracing: NO_TRACING,
    metrics: { webhooks: () => () => undefined },
    audit: async () => undefined,
    periodSums: createPeriodSums(store.db),
    background: () => (work: () => Promise<void>) => work(),
    ...strangers,
  };
  const webhooks = composeWebhooks(parts);
  const endpointsOf = new Map<string, number>();
  /** Number of expected deliveries. */
  let expected = 0;
  await webhooks.start();
  await jobs.startWorker({ runClaimed: async () => undefined });
  return {
    async meet(crowd) {
      const now = new Date();
      for (const { id, tenantId, url, secret } of crowd) {
        endpointsOf.set(tenantId, (endpointsOf.get(tenantId) ?? 0) + 1);
        const secrets = [{ sealed: box.seal(secret, id), createdAt: now, expiresAt: null }];
        const rest = {
          environment: 'test',
          description: null,
          active: true,
          timesDisabled: 0,
          createdAt: now,
          updatedAt: now,
          failingSince: null,
          failing: false,
        } as const;
        await endpoints.insert({ id, tenantId, url, secrets, events: ['invoice.signing'], ...rest });
      }
    },
    async create(tenantId) {
      const { createdAt, order } = newCreationMoment();
      const invoice = pendingInvoice({ tenantId, createdAt, work: null });
      await invoices.insert({ ...invoice, work: pendingInvoice({ createdAt }).work }, order, null);
      const claim = await claimOne(invoices, invoice.id, 600_000);
      if (!claim) throw new Error('the invoice can not be claimed');
      const event = signing();
      let changed: Invoice | null = null;
      return {
        eventId: event.id,
        async happen() {
          changed = (await invoices.change(claim, { status: 'signing', events: [event], work: null }, 600_000)).invoice;
        },
        tell() {
          if (!changed) return;
          expected += endpointsOf.get(tenantId) ?? 0;
          webhooks.publish(changed);
        },
      };
    },
    async over(tenantIds) {
      const deliveries = store.db.collection('webhook_deliveries');
      const pending = { tenantId: { $in: [...tenantIds] }, environment: 'test', state: 'pending' };
      // Both are cheap, whatever the number of deliveries: their count, and whether these tenants have a pending one.
      while ((await deliveries.estimatedDocumentCount()) < expected || (await deliveries.findOne(pending)) !== null)
        await sleep(POLL_MS);
    },
    async close() {
      await jobs.stop(1000);
      await webhooks.stop(1000);
      await store.close();
    },
  };
}

/** The same limit on concurrent requests as on our side. */
const BARE_CONCURRENCY = 512;

function bare(): Contestant {
  const agent = new Agent();
  const endpointsOf = new Map<string, CrowdEndpoint[]>();
  const waiting: (() => Promise<void>)[] = [];
  let underWay = 0;

  function pump(): void {
    while (underWay < BARE_CONCURRENCY) {
      const next = waiting.shift();
      if (!next) return;
      underWay++;
      void next().finally(() => {
        underWay--;
        pump();
      });
    }
  }

  async function post(eventId: string, { url, secret }: CrowdEndpoint, body: string): Promise<void> {
    const headers = {
      'Content-Type': 'application/json',
      ...signatureHeaders({ eventId, body, at: new Date() }, [signingKey(secret)]),
    };
    const { origin, pathname } = new URL(url);
    const answered = agent.request({ origin, path: pathname, method: 'POST', headers, body });
    // A request that is never answered does not count against the limit, or it would block this side.
    if (pathname.startsWith('/dead')) return void answered.catch(() => undefined);
    await (await answered).body.dump();
  }

  return {
    async meet(crowd) {
      for (const each of crowd) endpointsOf.set(each.tenantId, [...(endpointsOf.get(each.tenantId) ?? []), each]);
    },
    async create(tenantId) {
      const event = signing();
      const body = eventBody(pendingInvoice({ tenantId }), event, documentUrl);
      return {
        eventId: event.id,
        happen: async () => undefined,
        tell() {
          for (const endpoint of endpointsOf.get(tenantId) ?? []) waiting.push(() => post(event.id, endpoint, body));
          pump();
        },
      };
    },
    async over() {
      while (underWay + waiting.length > 0) await sleep(POLL_MS);
    },
    close: () => agent.destroy(),
  };
}
