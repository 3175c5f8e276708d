import type { Filter } from 'mongodb';
import type { PageQuery } from '../domain/page.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { type Attempt, type ClaimedDelivery, DELIVERY_STATES, type Delivery } from '../domain/webhook/delivery.ts';
import type { DeliveryFilter } from '../domain/webhook/ports.ts';

export interface DeliveryDocument extends Omit<Delivery, 'id' | 'nextAttemptAt'> {
  _id: string;
  /** Absent once the delivery is settled. */
  work?: DeliveryWork | undefined;
  /** Ids of the last `KEPT_ATTEMPTS` attempts, oldest first. */
  attempts: string[];
  /** When the delivery was stored; its retention starts here. */
  storedAt: Date;
}

export interface AttemptDocument extends Attempt {
  /**
   * The token of the lease under which the attempt was made. No delivery refers to attempts under a lost lease, and
   * they are never shown.
   */
  _id: string;
}

export interface DeliveryWork {
  /** The token of the lease; null when no process holds one. */
  token: string | null;
  /** Failed attempts in this round of the schedule. */
  tries: number;
  /** Whether it is queued with the retries, which run behind first attempts. */
  retry: boolean;
  /** Present while the delivery is being sent by hand. */
  manual?: true;
  /** See `ClaimedDelivery`; absent for 0. */
  timesDisabled?: number;
  /** When the delivery may be claimed; absent while it is leased. */
  readyAt?: Date;
  /** When the sweep examines the delivery: a grace period after `readyAt` or after the end of the lease. */
  sweepAt: Date;
  /** When `readyAt` and `sweepAt` were written, by the same clock. */
  since: Date;
}

/** Returns the document of a new delivery. */
export function documentOf({ id, nextAttemptAt: _due, ...delivery }: Delivery, storedAt: Date): DeliveryDocument {
  return { _id: id, ...delivery, attempts: [], storedAt };
}

/** @returns the claim; null when no process holds a lease */
export function claimOf(document: DeliveryDocument, leaseEnd: number): ClaimedDelivery | null {
  const { _id, tenantId, endpointId, eventId, invoiceId, sequence, createdAt } = document;
  const { earlier, work, traceparent } = document;
  if (!work?.token) return null;
  const { token, tries, retry, manual = false, timesDisabled = 0 } = work;
  return {
    id: _id,
    tenantId,
    endpointId,
    eventId,
    invoiceId,
    sequence,
    earlier,
    createdAt,
    tries,
    retry,
    manual,
    timesDisabled,
    token,
    leaseEnd,
    ...(traceparent !== undefined && { traceparent }),
  };
}

/** Returns the fields of a delivery that resending needs. */
export function keysOf({
  _id,
  eventId,
  eventType,
  order,
}: Pick<DeliveryDocument, '_id' | 'eventId' | 'eventType' | 'order'>) {
  return { id: _id, eventId, eventType, order };
}

/** Returns the delivery of a stored document, which may have been read without its attempts. */
export function deliveryOf({
  _id,
  work,
  attempts: _attempts,
  storedAt: _stored,
  ...delivery
}: Omit<DeliveryDocument, 'attempts'> & Partial<Pick<DeliveryDocument, 'attempts'>>): Delivery {
  return { id: _id, ...delivery, nextAttemptAt: (work?.token === null && work.readyAt) || null };
}

/** Returns a function that checks whether a stored delivery belongs to this owner. */
export function isOf({ tenantId, environment }: Owner) {
  return (each: Pick<DeliveryDocument, 'tenantId' | 'environment'>) =>
    each.tenantId === tenantId && each.environment === environment;
}

/**
 * Returns the name of the index for a list of deliveries. Without this hint, servers prefer the tenant's index, because
 * it binds more fields, and read the deliveries of all the tenant's endpoints.
 */
export function indexOf({ endpointId }: Pick<DeliveryFilter, 'endpointId'>): string {
  return endpointId === null ? 'list_by_state' : 'list_by_endpoint_and_state';
}

/** The filter of a list of deliveries. */
export function filterOf({
  tenantId,
  environment,
  endpointId,
  state,
}: PageQuery & DeliveryFilter): Filter<DeliveryDocument> {
  // A list of all states names each state, so that it can use the same index: a server then merges the four ranges.
  return {
    tenantId,
    environment,
    ...(endpointId !== null && { endpointId }),
    state: state ?? { $in: [...DELIVERY_STATES] },
  };
}
