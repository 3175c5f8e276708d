import type { Db } from 'mongodb';
import type { EventLog } from '../domain/webhook/delivery-ports.ts';
import type { WebhookEvent } from '../domain/webhook/webhook-event.ts';
import { insertNew } from './insert-new.ts';
import { readPage } from './pages.ts';

export interface EventDocument extends Omit<WebhookEvent, 'id'> {
  _id: string;
  /** When the row is deleted. */
  expiresAt: Date;
}

/** The log of events in the collection `webhook_events`. @param retentionMs how long events are kept */
export function createEventLog(db: Db, retentionMs: number): EventLog {
  const events = db.collection<EventDocument>('webhook_events');
  return {
    async append(rows) {
      // From now on, not from when it happened: what waited long in the outbox is to be sent too.
      const expiresAt = new Date(Date.now() + retentionMs);
      const documents = rows.map(({ id, ...row }) => ({
        _id: id,
        ...row,
        expiresAt,
      }));
      await insertNew(events, documents);
    },
    async find(tenantId, environment, eventId) {
      // By its id alone: some servers would rather go through all of the tenant's.
      const found = await events.findOne({ _id: eventId });
      return found && found.tenantId === tenantId && found.environment === environment ? eventOf(found) : null;
    },
    async findMany({ tenantId, environment }, eventIds) {
      const found = await events.find({ _id: { $in: [...eventIds] } }).toArray();
      return found.filter((each) => each.tenantId === tenantId && each.environment === environment).map(eventOf);
    },
    async bodies(eventIds) {
      const found = events.find({ _id: { $in: [...eventIds] } }).project<{ _id: string; body: string }>({ body: 1 });
      return new Map((await found.toArray()).map(({ _id, body }) => [_id, body]));
    },
    page({ type, ...query }) {
      const { tenantId, environment } = query;
      return readPage(events, { tenantId, environment, ...(type && { type }) }, query, eventOf);
    },
    async after({ tenantId, environment }, place, limit) {
      const found = events.find({ tenantId, environment, place: { $gt: place } });
      return (await found.sort({ place: 1 }).limit(limit).toArray()).map(eventOf);
    },
    async placesAfter({ tenantId, environment }, place, limit) {
      const found = events
        .find({ tenantId, environment, place: { $gt: place } })
        .sort({ place: 1 })
        .limit(limit);
      const rows = await found.project<{ place: string }>({ _id: 0, place: 1 }).toArray();
      return rows.map((row) => row.place);
    },
    async announce(places) {
      await events.bulkWrite(
        [...places].map(([_id, place]) => ({ updateOne: { filter: { _id }, update: { $set: { place } } } })),
        { ordered: false },
      );
    },
  };
}

export function eventOf({ _id, expiresAt: _expires, ...event }: EventDocument): WebhookEvent {
  return { id: _id, ...event };
}
