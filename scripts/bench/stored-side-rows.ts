import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import type { AuditAction, RecordedEntry } from '../../src/domain/audit-entry.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/durations.ts';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { newId } from '../../src/domain/ids.ts';
import { seriesYear } from '../../src/domain/invoice/legal-invoice.ts';
import { orderAt } from '../../src/domain/order-key.ts';
import type { LoggedRequest } from '../../src/domain/request-log/request-record.ts';
import type { Owner } from '../../src/domain/tenant/tenant.ts';
import { type Attempt, type Delivery, type DeliveryState, deliveryId } from '../../src/domain/webhook/delivery.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import { LATENCY_BOUNDS } from '../../src/domain/webhook/endpoint-statistics.ts';
import { createAuditLog } from '../../src/storage/audit-log.ts';
import { createStatisticsStore } from '../../src/storage/endpoint-statistics.ts';
import { type NumberDocument, seriesKey } from '../../src/storage/invoice-numbers.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { createRequestLog } from '../../src/storage/request-log.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  documentOf,
} from '../../src/storage/webhook-delivery-document.ts';
import { createWebhookEndpointRepository } from '../../src/storage/webhook-endpoints.ts';

/** Number of rows in one command. */
const BATCH = 1000;
/** Numbers that do not grow with the invoices of a tenant: the same on both sides. */
const [ENDPOINTS, MEMBERS] = [4, 20];
/** One delivery in so many failed, was cancelled, waits for a retry; one request in so many failed. */
const [FAILED, CANCELLED, WAITING, REFUSED] = [20, 50, 200, 10];
const FAILED_ATTEMPTS = 8;
/** Requests with an API key for each invoice of the last week, and invoices for each entry of the audit log. */
const [REQUESTS_AN_INVOICE, INVOICES_AN_ENTRY] = [3, 10];

/**
 * Stores what a tenant has besides its invoices: four endpoints, one of which fails, with the counts of a week; a delivery
 * of each invoice with its attempts; the log of a week's requests; an audit log; people.
 * @param ids of the invoices, oldest first, created evenly over the last `overMs` milliseconds
 */
export async function storeSideRows(db: Db, owner: Owner, ids: readonly string[], overMs: number): Promise<void> {
  const now = Date.now();
  const endpoints = await storeEndpoints(db, owner, now - overMs);
  await storeNumbers(db, owner, ids, new Date(now));
  await storeDeliveries(db, owner, { ids, endpoints, now, overMs });
  await storeRequests(db, owner, Math.ceil((ids.length * REQUESTS_AN_INVOICE * Math.min(7 * DAY_MS, overMs)) / overMs));
  await storeAuditLog(db, owner, Math.ceil(ids.length / INVOICES_AN_ENTRY), overMs);
  await storePeople(db, owner);
}

/** The numbers 1, 2, 3… that the invoices have, as they are looked up. */
async function storeNumbers(db: Db, owner: Owner, ids: readonly string[], at: Date): Promise<void> {
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  const year = seriesYear(at);
  for (let start = 0; start < ids.length; start += BATCH) {
    const batch = ids.slice(start, start + BATCH).map((invoiceId, place) => ({
      _id: seriesKey(owner, { year, serial: start + place + 1 }),
      invoiceId,
    }));
    await numbers.insertMany(batch, { ordered: false });
  }
}

async function storeEndpoints(db: Db, { tenantId, environment }: Owner, since: number): Promise<WebhookEndpoint[]> {
  const repository = createWebhookEndpointRepository(db);
  const createdAt = new Date(since);
  const endpoints = Array.from({ length: ENDPOINTS }, (_, nth): WebhookEndpoint => {
    const id = newId('we');
    const failing = nth === 0;
    return {
      id,
      tenantId,
      environment,
      url: `https://erp-${nth}.example.com/fatoura/events`,
      description: `ERP ${nth}`,
      events: EVENT_TYPES,
      active: true,
      timesDisabled: 0,
      createdAt,
      updatedAt: createdAt,
      failingSince: failing ? new Date(Date.now() - DAY_MS) : null,
      secrets: [{ sealed: `never opened: ${id}`, createdAt, expiresAt: null }],
    };
  });
  for (const endpoint of endpoints) await repository.insert(endpoint);
  const current = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  await createStatisticsStore(db).add(
    new Map(
      endpoints.map(({ id, failingSince }) => [
        id,
        Array.from({ length: 7 * 24 }, (_, nth) => ({
          at: new Date(current - nth * HOUR_MS),
          first: failingSince ? { delivered: 0, failed: 30 } : { delivered: 33, failed: 2 },
          retries: failingSince ? { delivered: 0, failed: 60 } : { delivered: 2, failed: 1 },
          latencies: [...LATENCY_BOUNDS.map((_bound, each) => (failingSince ? 0 : 5 - (each % 5))), 0],
        })),
      ]),
    ),
  );
  return endpoints;
}

interface Deliveries {
  readonly ids: readonly string[];
  readonly endpoints: readonly WebhookEndpoint[];
  readonly now: number;
  readonly overMs: number;
}

/** The rows themselves, because the ledger takes a lease and three writes for each of them. */
async function storeDeliveries(db: Db, owner: Owner, { ids, endpoints, now, overMs }: Deliveries): Promise<void> {
  const deliveries = db.collection<DeliveryDocument>('webhook_deliveries');
  const attempts = db.collection<AttemptDocument>('webhook_attempts');
  for (let start = 0; start < ids.length; start += BATCH) {
    const made = ids.slice(start, start + BATCH).map((invoiceId, place) => {
      const nth = start + place + 1;
      // Kept for as long as deliveries are, which begins when they are stored.
      const at = now - Math.floor(overMs * (1 - nth / ids.length));
      return deliveryOf(owner, invoiceId, { nth, at, endpoint: endpoints[nth % endpoints.length] as WebhookEndpoint });
    });
    await attempts.insertMany(
      made.flatMap((each) => each.attempts),
      { ordered: false },
    );
    await deliveries.insertMany(
      made.map((each) => each.delivery),
      { ordered: false },
    );
  }
}

function deliveryOf(
  { tenantId, environment }: Owner,
  invoiceId: string,
  { nth, at, endpoint }: { nth: number; at: number; endpoint: WebhookEndpoint },
): { delivery: DeliveryDocument; attempts: AttemptDocument[] } {
  const eventId = newId('evt');
  const state: DeliveryState =
    nth % FAILED === 0 ? 'failed' : nth % CANCELLED === 1 ? 'cancelled' : nth % WAITING === 2 ? 'pending' : 'delivered';
  const count = state === 'failed' ? FAILED_ATTEMPTS : state === 'cancelled' ? 0 : 1;
  const attempts = Array.from({ length: count }, (_, tries): AttemptDocument => {
    return {
      _id: `${eventId}_${tries}`,
      ...attemptOf(endpoint.url, eventId, at + tries * 1000, state === 'delivered'),
    };
  });
  const delivery: Delivery = {
    id: deliveryId(eventId, endpoint.id),
    tenantId,
    environment,
    endpointId: endpoint.id,
    eventId,
    eventType: 'invoice.accepted',
    invoiceId,
    sequence: 3,
    earlier: [],
    createdAt: new Date(at),
    state,
    order: orderOf(at, nth),
    nextAttemptAt: null,
  };
  const since = new Date();
  const readyAt = new Date(since.getTime() + DAY_MS);
  const work = { token: null, tries: 1, retry: true, readyAt, sweepAt: new Date(readyAt.getTime() + 2000), since };
  return {
    delivery: {
      ...documentOf(delivery, new Date(at)),
      attempts: attempts.map(({ _id }) => _id),
      ...(state === 'pending' && { work }),
    },
    attempts,
  };
}

function attemptOf(url: string, eventId: string, at: number, isDelivered: boolean): Attempt {
  return {
    at: new Date(at),
    url,
    status: isDelivered ? 200 : 503,
    latencyMs: 84,
    failure: null,
    truncated: false,
    requestHeaders: {
      'content-type': 'application/json',
      'user-agent': 'Fatoura-Webhooks/1',
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': `v1,${'a'.repeat(43)}=`,
    },
    headers: [
      ['content-type', 'application/json'],
      ['date', new Date(at).toUTCString()],
      ['server', 'nginx'],
    ],
    body: isDelivered ? '{"received":true}' : 'upstream connect error or disconnect before headers',
  };
}

const SUCCESSES = [
  ['POST', '/v1/invoices', 201],
  ['GET', '/v1/invoices/:id', 200],
  ['GET', '/v1/invoices', 200],
] as const;
const FAILURES = [
  ['POST', '/v1/invoices', 400, 'invalid_request', 'lines[0].tax_rate'],
  ['POST', '/v1/invoices', 422, 'amount_mismatch', 'amount'],
  ['GET', '/v1/invoices/:id', 404, 'resource_not_found', 'id'],
  ['POST', '/v1/invoices', 409, 'idempotency_conflict', null],
  ['POST', '/v1/invoices', 429, 'rate_limited', null],
] as const;

async function storeRequests(db: Db, { tenantId, environment }: Owner, count: number): Promise<void> {
  const log = createRequestLog(db);
  // An hour less than a week: the oldest requests could expire while they are read.
  const overMs = 7 * DAY_MS - HOUR_MS;
  const begun = Date.now() - overMs;
  for (let start = 0; start < count; start += BATCH) {
    const records = Array.from({ length: Math.min(BATCH, count - start) }, (_, place): LoggedRequest => {
      const nth = start + place;
      const at = begun + Math.floor((overMs * nth) / count);
      const failure = nth % REFUSED === 0 ? FAILURES[(nth / REFUSED) % FAILURES.length] : undefined;
      const [method, route, status] = failure ?? SUCCESSES[nth % SUCCESSES.length] ?? SUCCESSES[0];
      return {
        id: `req_${randomUUID()}`,
        tenantId,
        environment,
        at: new Date(at),
        method,
        route,
        operation: null,
        status,
        milliseconds: 7,
        code: failure?.[3] ?? null,
        param: failure?.[4] ?? null,
        keyId: 'key_bench',
        standsFor: 1,
        order: orderOf(at, nth),
      };
    });
    await log.insert(records);
  }
}

const ACTIONS: readonly AuditAction[] = ['api_key.created', 'webhook_endpoint.updated', 'invoice.email_resent'];

async function storeAuditLog(db: Db, { tenantId, environment }: Owner, count: number, overMs: number): Promise<void> {
  const log = createAuditLog(db);
  const begun = Date.now() - overMs;
  for (let start = 0; start < count; start += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, count - start) }, (_, place): RecordedEntry => {
      const nth = start + place;
      const at = begun + Math.floor((overMs * nth) / count);
      return {
        id: newId('aud'),
        at: new Date(at),
        order: orderOf(at, nth),
        tenantId,
        environment,
        action: ACTIONS[nth % ACTIONS.length] ?? 'api_key.created',
        actor: { kind: 'person', id: nth % 2 === 0 ? 'per_even' : 'per_odd', name: 'Amina' },
        origin: {
          requestId: `req_${randomUUID()}`,
          address: '192.0.2.7',
          userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
        },
        subject: nth % 2 === 0 ? 'key_even' : 'we_odd',
        details: {},
      };
    });
    await log.insert(entries);
  }
}

async function storePeople(db: Db, { tenantId }: Owner): Promise<void> {
  const people = Array.from({ length: MEMBERS }, (_, nth) => ({ _id: newId('per'), name: `Member ${nth}`, nth }));
  const at = new Date();
  await db.collection<{ _id: string }>('people').insertMany(
    people.map(({ _id, name, nth }) => ({
      _id,
      name,
      email: `member-${nth}@example.com`,
      emailVerified: true,
      createdAt: at,
      updatedAt: at,
    })),
  );
  const repository = createPeopleRepository(db);
  for (const { _id } of people) {
    await repository.grant(_id, { isOperator: false, memberships: [{ tenantId, role: 'developer' }] });
  }
}

/** The order key of the nth row of its kind. */
function orderOf(at: number, nth: number): string {
  return orderAt(at).slice(0, 12) + nth.toString(16).padStart(12, '0');
}
