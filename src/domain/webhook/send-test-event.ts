import { serviceError } from '../errors.ts';
import { type EventType, kindOfEvent, statusOfEvent } from '../event.ts';
import { newId } from '../ids.ts';
import { type Invoice, type InvoiceEvent, statusSince } from '../invoice/invoice.ts';
import { KINDS, type Kind } from '../invoice/kinds.ts';
import { CURRENCY } from '../money.ts';
import { newCreationMoment } from '../order-key.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Change, UseCase } from '../use-case.ts';
import type { DeliveryLedger, DeliveryQueue, EndpointRepository, EventLog } from './ports.ts';
import { sendTo, subscribers } from './resend-events.ts';
import { type DocumentUrl, type EventInvoice, eventBody, type WebhookEvent } from './webhook-event.ts';

export interface TestEventNeeds {
  /** Finds the tenant's latest document of this kind with this status. */
  readonly latestInvoice: (owner: Owner, kind: Kind, status: 'accepted' | 'rejected') => Promise<Invoice | null>;
  readonly events: Pick<EventLog, 'append'>;
  readonly deliveries: DeliveryLedger;
  readonly endpoints: Pick<EndpointRepository, 'find' | 'list'>;
  readonly deliveryQueue: DeliveryQueue;
  readonly documentUrl: DocumentUrl;
  readonly storeNow: () => Date;
}

/**
 * Sends a test event of a type to the active endpoints that subscribe to it, or to one endpoint (docs/api/contract.md,
 * "Events"). It contains the tenant's latest invoice or credit note that had the event, or a specimen if there is none.
 * @throws {ServiceError} invalid_request for a live key; resource_not_found for an endpoint that is unknown, inactive
 *   or belongs to another tenant or environment
 */
export const sendTestWebhookEvent = {
  scope: 'operate',
  audit: { action: 'webhook_event.test_sent', description: 'A test event was sent.' },
  async run(
    needs: TestEventNeeds,
    { by: { tenant, environment }, record }: Change,
    type: EventType,
    endpointId: string | null,
  ): Promise<WebhookEvent> {
    const owner = { tenantId: tenant.id, environment };
    if (environment !== 'test') {
      throw serviceError(
        'invalid_request',
        'Test events exist in the test environment only: use a test key (sk_test_…).',
      );
    }
    const made = await testEvent(needs, owner, type);
    const { endpoints, events } = needs;
    const receivers =
      endpointId === null ? await subscribers(endpoints, made) : [await given(endpoints, owner, endpointId)];
    const [event = made] = await events.append([made]);
    await sendTo(event, receivers, needs);
    const details = { type, ...(endpointId !== null && { endpoint: endpointId }) };
    await record({ subject: event.id, details });
    return event;
  },
} as const satisfies UseCase;

async function given(
  endpoints: Pick<EndpointRepository, 'find'>,
  { tenantId, environment }: Owner,
  endpointId: string,
) {
  const endpoint = await endpoints.find(tenantId, environment, endpointId);
  if (endpoint?.active) return endpoint;
  const shown = endpointId.slice(0, 80);
  throw serviceError(
    'resource_not_found',
    `There is no active webhook endpoint '${shown}' for this key.`,
    'endpointId',
  );
}

async function testEvent(needs: TestEventNeeds, owner: Owner, type: EventType): Promise<WebhookEvent> {
  const kind = kindOfEvent(type);
  const latest = await needs.latestInvoice(owner, kind, statusOfEvent(type) === 'rejected' ? 'rejected' : 'accepted');
  const invoice = latest ?? { ...specimen(kind), createdAt: needs.storeNow() };
  const known = latest?.events.find((each) => each.type === type);
  const change =
    latest && known ? { ...known, at: statusSince(latest, known) } : specimenChange(type, needs.storeNow());
  const { order } = newCreationMoment();
  const sent = { id: newId('evt'), at: needs.storeNow() };
  return {
    id: sent.id,
    ...owner,
    type,
    invoiceId: invoice.id,
    sequence: 0,
    createdAt: sent.at,
    order,
    place: order,
    body: eventBody(invoice, change, needs.documentUrl, sent),
    documentRevision: invoice.documentRevision,
  };
}

/** Returns the example document for a tenant that has no suitable one. */
function specimen(kind: Kind): Omit<EventInvoice, 'createdAt'> {
  return {
    id: specimenId(kind),
    amount: 12_000,
    currency: CURRENCY,
    customer: { ice: '001234567000062', name: 'SPECIMEN' },
    metadata: {},
    documentRevision: 0,
    credit:
      kind === 'credit_note'
        ? { original: { id: specimenId('invoice'), number: 'SPECIMEN' }, reason: 'cancellation', note: null }
        : null,
  };
}

const specimenId = (kind: Kind) => `${KINDS[kind].idPrefix}_00000000-0000-4000-8000-000000000000`;

function specimenChange(type: EventType, at: Date): InvoiceEvent {
  const status = statusOfEvent(type) ?? 'accepted';
  return {
    id: newId('evt'),
    sequence: 1,
    type,
    status,
    dgiId: status === 'accepted' ? 'DGI-SPECIMEN' : null,
    rejectionReason: status === 'rejected' ? 'Exemple d’un motif de rejet.' : null,
    at,
  };
}
