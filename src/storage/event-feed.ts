import type { ChangeStreamDocument, Db } from 'mongodb';
import type { Owner } from '../domain/tenant/tenant.ts';
import type { EventFeed, EventListener } from '../domain/webhook/ports.ts';
import type { DocumentUrl, WebhookEvent } from '../domain/webhook/webhook-event.ts';
import { type FollowedChanges, followChanges } from './follow-changes.ts';
import { createListeners } from './listeners.ts';
import { type EventDocument, eventOf } from './webhook-events.ts';

/**
 * Delivers new events of the event log to subscribers. Each process opens one change stream while it has subscribers.
 */
export interface EventFeedService extends EventFeed {
  /** Number of subscriptions. */
  listeners(): number;
  close(): Promise<void>;
}

/**
 * @param documentUrl computes the URLs of documents, which are not stored
 * @param onError called for each failure of the change stream, which is then reopened automatically
 */
export function createEventFeed(db: Db, documentUrl: DocumentUrl, onError: (error: unknown) => void): EventFeedService {
  const events = db.collection<EventDocument>('webhook_events');
  const listeners = createListeners<EventListener>();
  let followed: FollowedChanges | null = null;

  const tell = (event: WebhookEvent) => listeners.tell(keyOf(event), (listener) => listener.event(event));

  async function tellOf(change: ChangeStreamDocument<EventDocument>): Promise<void> {
    if (change.operationType === 'insert') return tell(eventOf(change.fullDocument, documentUrl));
    if (change.operationType !== 'update' || change.updateDescription.updatedFields?.place === undefined) return;
    const event = await events.findOne({ _id: change.documentKey._id });
    if (event) await tell(eventOf(event, documentUrl));
  }

  function gap(): void {
    for (const listener of listeners.all()) listener.gap();
  }

  async function end(): Promise<void> {
    const ending = followed;
    followed = null;
    await ending?.close();
  }

  return {
    async subscribe(owner, listener) {
      const remove = listeners.add(keyOf(owner), listener);
      followed ??= followChanges(events, ['insert', 'update'], { change: tellOf, gap, onError });
      await followed.opened;
      return () => {
        remove();
        if (listeners.count() === 0) void end();
      };
    },
    listeners: listeners.count,
    close: end,
  };
}

function keyOf({ tenantId, environment }: Owner): string {
  return `${tenantId} ${environment}`;
}
