import { serviceError } from '../errors.ts';
import type { EventType } from '../event.ts';
import { isId } from '../ids.ts';
import { type Found, type Page, type PageQuery, type PageSpan, placeInList } from '../page.ts';
import { type Principal, requireScope } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Attempt, Delivery, DeliveryState } from './delivery.ts';
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

/**
 * Events, deliveries and attempts of the caller's tenant and environment, as long as they are kept.
 * @throws {ServiceError} insufficient_scope; resource_not_found for an object that is unknown or belongs to another
 *   tenant or environment; invalid_request for an invalid page request
 */
export interface BrowseDeliveries {
  events(principal: Principal, request: PageRequest & { type: EventType | null }): Promise<Page<WebhookEvent>>;
  event(principal: Principal, eventId: string): Promise<WebhookEvent>;
  deliveries(
    principal: Principal,
    request: PageRequest & { endpointId: string | null; state: DeliveryState | null },
  ): Promise<Page<Delivery>>;
  delivery(principal: Principal, deliveryId: string): Promise<Delivery>;
  /** Finds events by id, in one query. Unknown, foreign and expired ones are missing from the result. */
  eventsById(principal: Principal, eventIds: readonly string[], maxBytes?: number): Promise<Found<WebhookEvent>>;
  /** Finds the deliveries of each event, in one query: at most one for each endpoint, deleted ones included. */
  deliveriesByEvent(principal: Principal, eventIds: readonly string[]): Promise<Map<string, Delivery[]>>;
  /** Finds the attempts of each delivery, in one query. */
  attemptsByDelivery(
    principal: Principal,
    ids: readonly string[],
    maxBytes?: number,
  ): Promise<Found<readonly Attempt[]>>;
}

export function createBrowseDeliveries(events: EventLog, deliveries: DeliveryLedger): BrowseDeliveries {
  const findEvent = async ({ tenantId, environment }: Owner, id: string) =>
    isId('evt', id) ? events.find(tenantId, environment, id) : null;
  const findDelivery = ({ tenantId, environment }: Owner, id: string) => deliveries.find(tenantId, environment, id);

  return {
    async events(principal, { type, ...request }) {
      const owner = ownerOf(principal);
      return events.page({ ...(await pageOf(owner, request, findEvent)), type });
    },
    async event(principal, eventId) {
      return (await findEvent(ownerOf(principal), eventId)) ?? missing('event', eventId, 'id');
    },
    async deliveries(principal, { endpointId, state, ...request }) {
      const owner = ownerOf(principal);
      return deliveries.page({ ...(await pageOf(owner, request, findDelivery)), endpointId, state });
    },
    async delivery(principal, deliveryId) {
      return (await findDelivery(ownerOf(principal), deliveryId)) ?? missing('delivery', deliveryId, 'id');
    },
    async eventsById(principal, eventIds, maxBytes) {
      return events.findMany(ownerOf(principal), unique(eventIds), maxBytes);
    },
    async deliveriesByEvent(principal, eventIds) {
      const found = await deliveries.ofEvents(ownerOf(principal), unique(eventIds));
      return Map.groupBy(found, ({ eventId }) => eventId);
    },
    async attemptsByDelivery(principal, ids, maxBytes) {
      return deliveries.attempts(ownerOf(principal), unique(ids), maxBytes);
    },
  };
}

const unique = (ids: readonly string[]) => [...new Set(ids)];

/** @throws {ServiceError} insufficient_scope unless the caller is a secret key or a member who is signed in */
export function ownerOf(principal: Principal): Owner {
  const { tenant, environment } = requireScope(principal, 'read');
  return { tenantId: tenant.id, environment };
}

/**
 * The range of creation times between two instants, compared in whole seconds as they are shown. UNIX milliseconds,
 * `from` inclusive, `until` exclusive.
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
