import type { Db, Document } from 'mongodb';
import type { InvoiceDocument } from './invoice-document.ts';
import { idsOf, presentTenants } from './present-documents.ts';
import type { DeliveryDocument, DeliveryWork } from './webhook-delivery-document.ts';
import type { EventDocument } from './webhook-events.ts';
import { type KeptSince, keptSince } from './webhook-retention.ts';

/** Maximum number of events read together. Deliveries have a lower limit, because each names up to 25 attempts. */
const EVENTS = 500;
const DELIVERIES = 200;

type CheckedEvent = Pick<EventDocument, '_id' | 'tenantId' | 'invoiceId' | 'sequence'>;
type CheckedDelivery = Pick<
  DeliveryDocument,
  '_id' | 'tenantId' | 'eventId' | 'createdAt' | 'storedAt' | 'state' | 'attempts'
> & {
  readonly work?: Pick<DeliveryWork, 'token' | 'timesDisabled'>;
};

interface Owned {
  readonly _id: string;
  readonly tenantId: string;
}

/** A row that expires (an event or attempt), and the row that refers to it. */
interface Named {
  readonly by: Owned;
  readonly collection: keyof KeptSince;
  readonly id: string;
  /** The row was stored after this time. */
  readonly notBefore: Date;
}

interface Fault {
  readonly id: string;
  readonly text: string;
}

/**
 * Returns the published events of these invoices that are missing from the event log although they have not expired. An
 * invoice is marked as published after its events are in the log, so every event of a marked invoice was there.
 * @param since see {@link lost}
 */
export async function unloggedEvents(
  db: Db,
  invoices: readonly Pick<InvoiceDocument, '_id' | 'tenantId' | 'events' | 'outbox' | 'withheld'>[],
  since: KeptSince,
): Promise<Fault[]> {
  // An erasure marks invoices whose events may not be published as withheld, and removes them from the outbox.
  const published = invoices.filter(({ outbox, withheld }) => !outbox && !withheld);
  const named = published.flatMap((by) => by.events.map(({ id, at }) => eventNamed(by, id, at)));
  return (await lost(db, named, since)).map(({ by, id }) => ({
    id: by._id,
    text: `its event ${id} is published and not in the log of events`,
  }));
}

/**
 * Checks that the invoice of each event in the event log exists. Skips test events, which may refer to an invoice that
 * does not exist.
 * @returns yields a text for each fault; returns the number of events
 */
export function checkedEvents(db: Db): AsyncGenerator<string, number> {
  const fields = { tenantId: 1, invoiceId: 1, sequence: 1 };
  return checkedRows<CheckedEvent>(db, 'webhook_events', { noun: 'event', fields, limit: EVENTS }, async (events) => {
    const ofInvoices = events.filter(({ sequence }) => sequence > 0);
    const ids = ofInvoices.map(({ invoiceId }) => invoiceId);
    const stored = await idsOf(db, 'invoices', ids);
    const without = ofInvoices.filter(({ invoiceId }) => !stored.has(invoiceId));
    // Only the erasure of a tenant removes invoices. It marks the tenant first, and removes the events after the
    // invoices.
    const present = await presentTenantsOf(db, without);
    return without
      .filter(({ tenantId }) => present.has(tenantId))
      .map(({ _id, invoiceId }) => ({ id: _id, text: `its invoice ${invoiceId} does not exist` }));
  });
}

/**
 * Compares each delivery with its state, its event and its attempts. Does not check the endpoint of a pending delivery:
 * when the endpoint was deleted meanwhile, the delivery is cancelled when it is next due.
 * @param since see {@link lost}
 * @returns yields a text for each fault; returns the number of deliveries
 */
export function checkedDeliveries(db: Db, since: KeptSince): AsyncGenerator<string, number> {
  const facts = { tenantId: 1, eventId: 1, createdAt: 1, storedAt: 1, state: 1, attempts: 1 };
  const fields = { ...facts, 'work.token': 1, 'work.timesDisabled': 1 };
  const options = { noun: 'delivery', fields, limit: DELIVERIES };
  return checkedRows<CheckedDelivery>(db, 'webhook_deliveries', options, async (deliveries) => {
    const named = deliveries.flatMap((by) => [
      eventNamed(by, by.eventId, by.createdAt),
      // An attempt is made after its delivery was stored, and is written before the delivery refers to it.
      ...by.attempts.map((id): Named => ({ by, collection: 'webhook_attempts', id, notBefore: by.storedAt })),
    ]);
    const gone = await lost(db, named, since);
    return [
      ...deliveries.flatMap((delivery) => {
        const text = workFault(delivery);
        return text === null ? [] : [{ id: delivery._id, text }];
      }),
      ...gone.map(({ by, collection, id }) => ({
        id: by._id,
        text: `its ${collection === 'webhook_events' ? 'event' : 'attempt'} ${id} does not exist`,
      })),
    ];
  });
}

/** Checks that state and work agree. One update changes both, so they agree at every moment. */
function workFault({ state, work }: CheckedDelivery): string | null {
  if (state === 'pending') return work ? null : 'it is pending, and no attempt is planned';
  // A delivery keeps its lease so that an attempt under way is recorded. The sweep removes the lease after it ends.
  if (!work || work.token !== null) return null;
  // No fault: a cancelled delivery was sent again by hand, and cancelled again, while one lease was held. It becomes
  // due when the lease ends, and the next claim cancels it without an attempt.
  if (state === 'cancelled' && work.timesDisabled) return null;
  return `it is ${state}, and another attempt is planned`;
}

/** The event `id` that a row refers to. An event is stored after it happened, and before its deliveries. */
function eventNamed(by: Owned, id: string, at: Date): Named {
  return { by, collection: 'webhook_events', id, notBefore: at };
}

/**
 * Returns the rows that are missing and cannot have been removed: they have not expired, and their tenants are not
 * erased. The rows that refer to them must have been read before.
 * @param since read at the beginning; rows stored before it are ignored
 */
async function lost(db: Db, named: readonly Named[], since: KeptSince): Promise<Named[]> {
  const isKept = (limits: KeptSince) => (each: Named) => each.notBefore > limits[each.collection];
  const missing: Named[] = [];
  for (const [collection, wanted] of Map.groupBy(named.filter(isKept(since)), (each) => each.collection)) {
    const found = await idsOf(
      db,
      collection,
      wanted.map(({ id }) => id),
    );
    missing.push(...wanted.filter(({ id }) => !found.has(id)));
  }
  if (missing.length === 0) return [];
  // Read after the rows: a retention that was shortened, or an erasure that began, shows here before it removes rows.
  const [limits, present] = await Promise.all([
    keptSince(db),
    presentTenantsOf(
      db,
      missing.map(({ by }) => by),
    ),
  ]);
  return missing.filter(isKept(limits)).filter(({ by }) => present.has(by.tenantId));
}

function presentTenantsOf(db: Db, rows: readonly Pick<Owned, 'tenantId'>[]): Promise<Set<string>> {
  return rows.length === 0
    ? Promise.resolve(new Set<string>())
    : presentTenants(db, [...new Set(rows.map(({ tenantId }) => tenantId))]);
}

/**
 * Reads a collection in the order of the ids, with a batch in memory at a time, and checks its rows.
 * @returns yields a text for each fault; returns the number of rows
 */
async function* checkedRows<Row extends Owned>(
  db: Db,
  collection: string,
  { noun, fields, limit }: { readonly noun: string; readonly fields: Document; readonly limit: number },
  faultsOf: (rows: readonly Row[]) => Promise<Fault[]>,
): AsyncGenerator<string, number> {
  const read = async (_id: object): Promise<Row[]> => {
    const found = db.collection<Document & { _id: string }>(collection).find({ _id } as never, { projection: fields });
    return (await found.sort({ _id: 1 }).limit(limit).toArray()) as unknown as Row[];
  };
  let count = 0;
  for (let after = ''; ; ) {
    const found = await read({ $gt: after });
    const last = found.at(-1);
    if (last === undefined) return count;
    let faults = await faultsOf(found);
    // A running service may have changed or removed a row during the check, so rows with faults are read and checked
    // again.
    if (faults.length > 0) faults = await faultsOf(await read({ $in: [...new Set(faults.map(({ id }) => id))] }));
    for (const { id, text } of faults) yield `${noun} ${id}: ${text}`;
    count += found.length;
    after = last._id;
  }
}
