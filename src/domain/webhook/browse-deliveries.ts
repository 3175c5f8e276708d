import { serviceError } from '../errors.ts';
import type { EventType } from '../event.ts';
import { isId } from '../ids.ts';
import { type Found, type Page, type PageQuery, type PageSpan, placeInList } from '../page.ts';
import type { Member } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { Attempt, Delivery, DeliveryState, DeliveryWithAttempts } from './delivery.ts';
import type { DeliveryLedger, EventLog } from './ports.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** A client's request for a page of a list, newest first. */
export interface PageRequest extends PageSpan {
  /** Compared in whole seconds; the given second is excluded. */
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
  /** Maximum size of the page's rows in bytes; default 4 MiB. The first row is always included. */
  readonly maxBytes?: number;
}

interface BrowseNeeds {
  readonly events: EventLog;
  readonly deliveries: DeliveryLedger;
}

/**
 * Events, deliveries and attempts of the caller's tenant and environment, as long as they are kept.
 * @throws {ServiceError} resource_not_found for an object that is unknown or belongs to another tenant or environment;
 *   invalid_request for an invalid page request
 */
export const DELIVERY_USE_CASES = {
  webhookEvents: {
    scope: 'read',
    async run(
      { events }: BrowseNeeds,
      { by }: Call,
      { type, ...request }: PageRequest & { readonly type: EventType | null },
    ): Promise<Page<WebhookEvent>> {
      return events.page({ ...(await pageOf(ownerOf(by), request, (...key) => findEvent(events, ...key))), type });
    },
  },
  webhookEvent: {
    scope: 'read',
    run: async ({ events }: BrowseNeeds, { by }: Call, eventId: string): Promise<WebhookEvent> =>
      (await findEvent(events, ownerOf(by), eventId)) ?? missing('event', eventId, 'id'),
  },
  webhookDeliveries: {
    scope: 'read',
    async run(
      { deliveries }: BrowseNeeds,
      { by }: Call,
      {
        endpointId,
        state,
        attempts,
        ...request
      }: PageRequest & {
        readonly endpointId: string | null;
        readonly state: DeliveryState | null;
        /** The fields of the attempts that the rows have; null if they have no attempts. */
        readonly attempts: readonly (keyof Attempt)[] | null;
      },
    ): Promise<Page<Delivery | DeliveryWithAttempts>> {
      const page = await pageOf(ownerOf(by), request, (...key) => findDelivery(deliveries, ...key));
      const query = { ...page, endpointId, state };
      return attempts ? deliveries.pageWithAttempts(query, attempts) : deliveries.page(query);
    },
  },
  webhookDelivery: {
    scope: 'read',
    run: async ({ deliveries }: BrowseNeeds, { by }: Call, deliveryId: string): Promise<Delivery> =>
      (await findDelivery(deliveries, ownerOf(by), deliveryId)) ?? missing('delivery', deliveryId, 'id'),
  },
  /** Finds events by id, in one query. Unknown, foreign and expired ones are missing from the result. */
  webhookEventsById: {
    scope: 'read',
    run: (
      { events }: BrowseNeeds,
      { by }: Call,
      eventIds: readonly string[],
      maxBytes?: number,
    ): Promise<Found<WebhookEvent>> => events.findMany(ownerOf(by), unique(eventIds), maxBytes),
  },
  /** Finds the deliveries of each event, in one query: at most one for each endpoint, deleted ones included. */
  deliveriesByEvent: {
    scope: 'read',
    async run(
      { deliveries }: BrowseNeeds,
      { by }: Call,
      eventIds: readonly string[],
    ): Promise<Map<string, Delivery[]>> {
      const found = await deliveries.ofEvents(ownerOf(by), unique(eventIds));
      return Map.groupBy(found, ({ eventId }) => eventId);
    },
  },
  /** Finds the attempts of each delivery, in one query. They have only `fields`. */
  attemptsByDelivery: {
    scope: 'read',
    run: (
      { deliveries }: BrowseNeeds,
      { by }: Call,
      ids: readonly string[],
      fields: readonly (keyof Attempt)[],
      maxBytes?: number,
    ): Promise<Found<readonly Attempt[]>> => deliveries.attempts(ownerOf(by), unique(ids), fields, maxBytes),
  },
} as const satisfies Readonly<Record<string, UseCase>>;

async function findEvent(events: EventLog, { tenantId, environment }: Owner, id: string) {
  return isId('evt', id) ? events.find(tenantId, environment, id) : null;
}

function findDelivery(deliveries: DeliveryLedger, { tenantId, environment }: Owner, id: string) {
  return deliveries.find(tenantId, environment, id);
}

const unique = (ids: readonly string[]) => [...new Set(ids)];

export function ownerOf({ tenant, environment }: Member): Owner {
  return { tenantId: tenant.id, environment };
}

/**
 * Returns the range of creation times between two instants, compared in whole seconds as they are shown. UNIX
 * milliseconds, `from` inclusive, `until` exclusive.
 */
export function secondsBetween(after: Date | null, before: Date | null): Pick<PageQuery, 'from' | 'until'> {
  return {
    from: after && (Math.floor(after.getTime() / 1000) + 1) * 1000,
    until: before && Math.ceil(before.getTime() / 1000) * 1000,
  };
}

/** @param param the name of the client's argument @throws {ServiceError} resource_not_found */
export function missing(what: 'event' | 'delivery', id: string, param: 'id' | 'eventId'): never {
  throw serviceError('resource_not_found', `There is no ${what} '${id.slice(0, 100)}' for this key.`, param);
}

async function pageOf(
  owner: Owner,
  { createdAfter, createdBefore, maxBytes, ...span }: PageRequest,
  find: (owner: Owner, id: string) => Promise<{ order: string } | null>,
): Promise<PageQuery> {
  return {
    ...owner,
    ...(await placeInList(span, (id) => find(owner, id))),
    ...secondsBetween(createdAfter, createdBefore),
    ...(maxBytes !== undefined && { maxBytes }),
  };
}
