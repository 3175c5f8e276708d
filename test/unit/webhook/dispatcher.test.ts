import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ClaimedDelivery } from '../../../src/domain/webhook/delivery.ts';
import { createDispatcher, type StoredDelivery } from '../../../src/domain/webhook/dispatcher.ts';
import type { WebhookEndpoint } from '../../../src/domain/webhook/endpoint.ts';
import type { AttemptRecord } from '../../../src/domain/webhook/ports.ts';

/** Of a process. */
const SLOTS = 512;
/** Concurrent attempts of an endpoint. */
const CONCURRENCY = 16;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface UnderWay {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly end: () => void;
}

/** A dispatcher whose attempts end when the test says so. The deliveries that it can claim are those of `ledger`. */
function dispatching() {
  let serial = 0;
  const ledger = new Map<string, ClaimedDelivery[]>();
  const begun: UnderWay[] = [];
  const endpoints = new Map<string, WebhookEndpoint>();
  const dispatcher = createDispatcher({
    deliveries: {
      claimMany: async (endpointId: string, { limit, retries }: { limit: number; retries: boolean }) =>
        ledger.get(endpointId)?.splice(0, retries ? 0 : limit) ?? [],
      unattemptedBefore: async () => new Map(),
      release: async () => undefined,
      cancel: async () => undefined,
    } as never,
    events: { bodies: async (ids: readonly string[]) => new Map(ids.map((id) => [id, '{}'])) },
    endpointOf: async (endpointId) => endpoints.get(endpointId) ?? null,
    attempt: (claim, { id: endpointId, tenantId }) =>
      new Promise<AttemptRecord>((resolve) => {
        const record = { claim, attempt: {}, outcome: { state: 'delivered' } } as AttemptRecord;
        begun.push({ endpointId, tenantId, end: () => resolve(record) });
      }),
    records: { record: async () => undefined, recorded: async () => undefined } as never,
    health: { noteResult: () => undefined },
    statistics: { note: () => undefined },
    now: () => new Date(),
    report: (message, error) => {
      throw new Error(message, { cause: error });
    },
  });

  /** Some endpoints of a tenant. */
  function endpointsOf(tenantId: string, count: number): WebhookEndpoint[] {
    return Array.from({ length: count }, (_, i) => {
      const endpoint = { id: `we_${tenantId}_${i}`, tenantId, active: true, timesDisabled: 0 } as WebhookEndpoint;
      endpoints.set(endpoint.id, endpoint);
      return endpoint;
    });
  }

  /** A delivery, of an invoice of its own. */
  function claimFor({ id: endpointId, tenantId }: WebhookEndpoint, retry = false): ClaimedDelivery {
    const id = `dlv_${++serial}`;
    const claim = {
      id,
      tenantId,
      endpointId,
      eventId: `evt_${serial}`,
      invoiceId: `inv_${serial}`,
      earlier: [],
      retry,
    };
    return { ...claim, timesDisabled: 0, createdAt: new Date(), leaseEnd: Date.now() + 30_000 } as never;
  }

  /** Takes over so many new deliveries for each endpoint, those of one endpoint together. */
  async function accept(receivers: readonly WebhookEndpoint[], count: number, retry = false): Promise<void> {
    const stored = receivers.flatMap((endpoint) =>
      Array.from({ length: count }, (): StoredDelivery => {
        const reserved = dispatcher.reserve(endpoint.id);
        const leased = { claim: claimFor(endpoint, retry), body: '{}' };
        return { endpoint, readAt: Date.now(), reserved, leased: reserved ? leased : null };
      }),
    );
    await dispatcher.accept(stored);
    await vi.advanceTimersByTimeAsync(0);
  }

  /** Ends attempts one after the other. @returns the attempts that have begun meanwhile, in their order */
  async function end(attempts: readonly UnderWay[]): Promise<UnderWay[]> {
    const before = begun.length;
    for (const attempt of attempts) {
      attempt.end();
      await vi.advanceTimersByTimeAsync(0);
    }
    return begun.slice(before);
  }

  return { dispatcher, ledger, begun, endpointsOf, claimFor, accept, end };
}

const tenantsOf = (attempts: readonly UnderWay[]) => attempts.map(({ tenantId }) => tenantId);
const ofTenant = (attempts: readonly UnderWay[], tenant: string) =>
  attempts.filter(({ tenantId }) => tenantId === tenant);

it('a tenant with one endpoint gets half of the free slots beside one with a flood for 16 endpoints', async () => {
  const { begun, endpointsOf, accept, end } = dispatching();
  for (let i = 0; i < SLOTS / CONCURRENCY; i++) await accept(endpointsOf(`other_${i}`, 1), CONCURRENCY);
  expect(begun).toHaveLength(SLOTS);
  const others = [...begun];
  await accept(endpointsOf('many', 16), 30);
  await accept(endpointsOf('one', 1), 20);
  expect(begun).toHaveLength(SLOTS);
  const next = await end(others.slice(0, 2 * CONCURRENCY));
  expect(tenantsOf(next)).toEqual(Array(CONCURRENCY).fill(['many', 'one']).flat());
  // Whichever of the attempts ends, both keep their share as long as both need it.
  const [many, one] = [ofTenant(next, 'many'), ofTenant(next, 'one')];
  const later = await end([...one.slice(0, 4), ...many.slice(0, 4)]);
  expect(tenantsOf(later)).toEqual([...Array(4).fill('one'), ...Array(4).fill('many')]);
});

it('a tenant alone uses all slots, and gives those that become free to one that comes later', async () => {
  const { begun, endpointsOf, accept, end } = dispatching();
  await accept(endpointsOf('many', 40), 60);
  expect(begun).toHaveLength(SLOTS);
  const first = [...begun];
  await accept(endpointsOf('one', 1), 20);
  const next = await end(first.slice(0, CONCURRENCY + 4));
  // An endpoint has 16 attempts at most.
  expect(tenantsOf(next)).toEqual([...Array(CONCURRENCY).fill('one'), ...Array(4).fill('many')]);
  const rest = await end(ofTenant(next, 'one').slice(0, 4));
  expect(tenantsOf(rest)).toEqual(Array(4).fill('one'));
});

it('the endpoints of a tenant take turns, and one that gets further deliveries keeps its place', async () => {
  const { begun, endpointsOf, accept, end } = dispatching();
  await accept(endpointsOf('other', SLOTS / CONCURRENCY), CONCURRENCY);
  const others = [...begun];
  const [a, b, c] = endpointsOf('own', 3) as [WebhookEndpoint, WebhookEndpoint, WebhookEndpoint];
  await accept([a], 5);
  await accept([b, c], 2);
  await accept([a], 5);
  const next = await end(others.slice(0, 8));
  expect(next.map(({ endpointId }) => endpointId)).toEqual([a, b, c, a, b, c, a, a].map(({ id }) => id));
});

it('an endpoint that is woken takes the turns of its tenant', async () => {
  const { dispatcher, ledger, begun, endpointsOf, claimFor, accept, end } = dispatching();
  await accept(endpointsOf('other', SLOTS / CONCURRENCY), CONCURRENCY);
  const others = [...begun];
  await accept(endpointsOf('many', 4), 20);
  for (const endpoint of [...endpointsOf('woken', 4), ...endpointsOf('one', 1)]) {
    ledger.set(
      endpoint.id,
      Array.from({ length: 8 }, () => claimFor(endpoint)),
    );
    dispatcher.wake(endpoint.id);
  }
  await vi.advanceTimersByTimeAsync(0);
  const next = await end(others.slice(0, 24));
  expect(tenantsOf(next)).toEqual(Array(8).fill(['many', 'woken', 'one']).flat());
});

it('retries and attempts that hang take no turns from the other endpoints of their tenant', async () => {
  const { begun, endpointsOf, accept, end } = dispatching();
  const [retried, dead, sound] = endpointsOf('own', 3) as [WebhookEndpoint, WebhookEndpoint, WebhookEndpoint];
  await accept([retried], CONCURRENCY, true);
  await accept([dead], CONCURRENCY);
  await vi.advanceTimersByTimeAsync(1000);
  const hanging = begun.length;
  await accept(endpointsOf('other', 40), CONCURRENCY);
  const others = begun.slice(hanging);
  expect(others).toHaveLength(SLOTS);
  await accept([sound], 3);
  await accept(endpointsOf('one', 1), 3);
  const next = await end(others.slice(0, 6));
  expect(tenantsOf(next)).toEqual(Array(3).fill(['own', 'one']).flat());
});

it('nothing is begun after a stop', async () => {
  const { dispatcher, begun, endpointsOf, accept, end } = dispatching();
  await accept(endpointsOf('many', 40), 20);
  const stopped = dispatcher.stop(1000);
  expect(await end([...begun])).toEqual([]);
  await stopped;
});
