import type { Db } from 'mongodb';
import { newCreationMoment, orderAfter } from '../domain/order-key.ts';
import type { EventLog } from '../domain/webhook/ports.ts';
import {
  type BodyAtRest,
  bodyAtRest,
  bodyToSend,
  type DocumentUrl,
  type WebhookEvent,
} from '../domain/webhook/webhook-event.ts';
import { createOrderedInsert, insertNewInOrder } from './ordered-insert.ts';
import { readAll, readPage } from './pages.ts';

export interface EventDocument extends Omit<WebhookEvent, 'id' | keyof BodyAtRest>, BodyAtRest {
  _id: string;
  /**
   * The retention starts here, not at the event's time, so that an event that waited long in the outbox is delivered.
   */
  storedAt: Date;
}

/**
 * Stores the event log in the collection `webhook_events`.
 * @param documentUrl computes the URLs of documents, which are not stored
 */
export function createEventLog(db: Db, documentUrl: DocumentUrl): EventLog {
  const events = db.collection<EventDocument>('webhook_events');
  const insert = createOrderedInsert(db, events, {
    listOf: ({ tenantId, environment }) => `${tenantId} ${environment}`,
    raise: (event, order) => ({ ...event, order, place: order }),
  });
  const toEvent = (document: EventDocument) => eventOf(document, documentUrl);
  return {
    async append(rows) {
      const storedAt = new Date();
      const documents = rows.map(({ id, documentRevision, ...row }) => ({
        _id: id,
        ...row,
        ...bodyAtRest({ body: row.body, documentRevision }),
        storedAt,
      }));
      const stored = new Map((await insertNewInOrder(insert, documents)).map((each) => [each._id, each]));
      return rows.map((row) => {
        const { order, place } = stored.get(row.id) ?? row;
        return { ...row, order, place };
      });
    },
    async find(tenantId, environment, eventId) {
      // Filters by id only: with the tenant in the filter, some servers would scan all events of the tenant.
      const found = await events.findOne({ _id: eventId });
      return found && found.tenantId === tenantId && found.environment === environment ? toEvent(found) : null;
    },
    async findMany({ tenantId, environment }, eventIds, maxBytes) {
      const search = events.find({ _id: { $in: [...eventIds] } }, { raw: true });
      const { found, bytes } = await readAll(search, eventIds.length, maxBytes);
      const own = found.filter((each) => each.tenantId === tenantId && each.environment === environment);
      return { rows: new Map(own.map((each) => [each._id, toEvent(each)])), bytes };
    },
    async bodies(eventIds) {
      const found = events
        .find({ _id: { $in: [...eventIds] } })
        .project<BodyAtRest & { _id: string; invoiceId: string }>({ body: 1, documentRevision: 1, invoiceId: 1 });
      return new Map((await found.toArray()).map((document) => [document._id, bodyToSend(document, documentUrl)]));
    },
    page({ type, ...query }) {
      const { tenantId, environment } = query;
      return readPage(events, { tenantId, environment, ...(type && { type }) }, query, toEvent);
    },
    async after({ tenantId, environment }, place, limit) {
      const found = events.find({ tenantId, environment, place: { $gt: place } });
      return (await found.sort({ place: 1 }).limit(limit).toArray()).map(toEvent);
    },
    async placesAfter({ tenantId, environment }, place, limit) {
      const found = events
        .find({ tenantId, environment, place: { $gt: place } })
        .sort({ place: 1 })
        .limit(limit);
      const rows = await found.project<{ place: string }>({ _id: 0, place: 1 }).toArray();
      return rows.map((row) => row.place);
    },
    async announce({ tenantId, environment }, eventIds) {
      // Starts above the highest stored key, which a process whose clock is ahead may have written: streams resume from
      // there.
      const highest = await events
        .find({ tenantId, environment })
        .project<{ place: string }>({ _id: 0, place: 1 })
        .sort({ place: -1 })
        .limit(1)
        .next();
      let last = highest?.place ?? '';
      const updates = eventIds.map((_id) => {
        const { order } = newCreationMoment();
        last = order > last ? order : orderAfter(last);
        return { updateOne: { filter: { _id }, update: { $set: { place: last } } } };
      });
      await events.bulkWrite(updates, { ordered: false });
    },
  };
}

export function eventOf(document: EventDocument, documentUrl: DocumentUrl): WebhookEvent {
  const { _id, storedAt: _stored, documentRevision = 0, ...event } = document;
  return { id: _id, ...event, documentRevision, body: bodyToSend(document, documentUrl) };
}
