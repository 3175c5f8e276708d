import { type Audit, entryBy } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import { type EventType, statusOfEvent } from '../event.ts';
import { newId } from '../ids.ts';
import { type Invoice, type InvoiceEvent, statusSince } from '../invoice/invoice.ts';
import { CURRENCY } from '../money.ts';
import { newCreationMoment } from '../order-key.ts';
import { type Principal, requireScope } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { DeliveryLedger, DeliveryQueue, EndpointRepository, EventLog } from './ports.ts';
import { sendTo, subscribers } from './resend-events.ts';
import { type DocumentUrl, type EventInvoice, eventBody, type WebhookEvent } from './webhook-event.ts';

export interface TestEventParts {
  /** Finds the tenant's latest invoice with this status. */
  readonly latestInvoice: (owner: Owner, status: 'accepted' | 'rejected') => Promise<Invoice | null>;
  readonly events: Pick<EventLog, 'append'>;
  readonly deliveries: DeliveryLedger;
  readonly endpoints: Pick<EndpointRepository, 'find' | 'list'>;
  readonly queue: DeliveryQueue;
  readonly documentUrl: DocumentUrl;
  readonly audit: Audit;
  readonly now: () => Date;
}

export type SendTestEvent = ReturnType<typeof createSendTestEvent>;

export function createSendTestEvent(parts: TestEventParts) {
  /**
   * Sends a test event of this type to the active endpoints that subscribe to it, or to one endpoint
   * (docs/api/contract.md, "Events"). It contains the tenant's latest invoice that had the event, or a specimen if
   * there is none.
   * @throws {ServiceError} insufficient_scope; invalid_request for a live key; resource_not_found for an endpoint that
   *   is unknown, inactive or belongs to another tenant or environment
   */
  return async (principal: Principal, type: EventType, endpointId: string | null): Promise<WebhookEvent> => {
    const member = requireScope(principal, 'operate');
    const owner = { tenantId: member.tenant.id, environment: member.environment };
    if (owner.environment !== 'test') {
      throw serviceError(
        'invalid_request',
        'Test events exist in the test environment only: use a test key (sk_test_…).',
      );
    }
    const made = await testEvent(owner, type);
    const receivers = endpointId === null ? await subscribers(parts.endpoints, made) : [await given(owner, endpointId)];
    const [event = made] = await parts.events.append([made]);
    await sendTo(event, receivers, parts);
    const details = { type, ...(endpointId !== null && { endpoint: endpointId }) };
    await parts.audit(entryBy(member, 'webhook_event.test_sent', { subject: event.id, details }));
    return event;
  };

  async function given({ tenantId, environment }: Owner, endpointId: string) {
    const endpoint = await parts.endpoints.find(tenantId, environment, endpointId);
    if (endpoint?.active) return endpoint;
    const shown = endpointId.slice(0, 80);
    throw serviceError(
      'resource_not_found',
      `There is no active webhook endpoint '${shown}' for this key.`,
      'endpointId',
    );
  }

  async function testEvent(owner: Owner, type: EventType): Promise<WebhookEvent> {
    const latest = await parts.latestInvoice(owner, statusOfEvent(type) === 'rejected' ? 'rejected' : 'accepted');
    const invoice = latest ?? { ...SPECIMEN, createdAt: parts.now() };
    const known = latest?.events.find((each) => each.type === type);
    const change = latest && known ? { ...known, at: statusSince(latest, known) } : specimenChange(type, parts.now());
    const { order } = newCreationMoment();
    const sent = { id: newId('evt'), at: parts.now() };
    return {
      id: sent.id,
      ...owner,
      type,
      invoiceId: invoice.id,
      sequence: 0,
      createdAt: sent.at,
      order,
      place: order,
      body: eventBody(invoice, change, parts.documentUrl, sent),
      documentRevision: invoice.documentRevision,
    };
  }
}

/** The example invoice for a tenant that has no suitable one. */
const SPECIMEN: Omit<EventInvoice, 'createdAt'> = {
  id: 'inv_00000000-0000-4000-8000-000000000000',
  amount: 12_000,
  currency: CURRENCY,
  customer: { ice: '001234567000062', name: 'SPECIMEN' },
  metadata: {},
  documentRevision: 0,
};

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
