import type { ChangeStream, ChangeStreamDocument, Db } from 'mongodb';
import type { EventFeed, EventListener } from '../domain/webhook/ports.ts';
import type { DocumentUrl, WebhookEvent } from '../domain/webhook/webhook-event.ts';
import { tellAll } from './fan-out.ts';
import { type EventDocument, eventOf } from './webhook-events.ts';

const RECONNECT_MS = 250;

/** The feed of events, as the log gets them: one change stream for this process, while anybody listens. */
export interface EventFeedService extends EventFeed {
  /** How many subscriptions there are. */
  listeners(): number;
  close(): Promise<void>;
}

/**
 * @param documentUrl derives the URLs of documents, which are not stored
 * @param onError told of each loss of the stream; it is reopened by itself
 */
export function createEventFeed(db: Db, documentUrl: DocumentUrl, onError: (error: unknown) => void): EventFeedService {
  const events = db.collection<EventDocument>('webhook_events');
  const listeners = new Map<string, Set<EventListener>>();
  let present: { stream: ChangeStream<EventDocument> | null; opened: Promise<void>; ended: Promise<void> } | null =
    null;

  const tell = (event: WebhookEvent) => tellAll(listeners.get(keyOf(event)), (listener) => listener.event(event));

  async function tellOf(change: ChangeStreamDocument<EventDocument>): Promise<void> {
    if (change.operationType === 'insert') return tell(eventOf(change.fullDocument, documentUrl));
    if (change.operationType !== 'update' || change.updateDescription.updatedFields?.place === undefined) return;
    const event = await events.findOne({ _id: change.documentKey._id });
    if (event) await tell(eventOf(event, documentUrl));
  }

  function start() {
    const opened = Promise.withResolvers<void>();
    const run = {
      stream: null as ChangeStream<EventDocument> | null,
      opened: opened.promise,
      ended: Promise.resolve(),
    };
    let first = true;
    const pump = async () => {
      while (present === run) {
        const stream = events.watch<EventDocument>([{ $match: { operationType: { $in: ['insert', 'update'] } } }]);
        run.stream = stream;
        stream.once('resumeTokenChanged', () => {
          opened.resolve();
          if (!first) for (const listener of [...listeners.values()].flatMap((set) => [...set])) listener.gap();
          first = false;
        });
        try {
          for await (const change of stream) await tellOf(change as ChangeStreamDocument<EventDocument>);
        } catch (error) {
          if (present === run) onError(error);
        }
        await stream.close().catch(() => undefined);
        if (present === run) await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
      }
    };
    present = run;
    run.ended = pump();
    return run;
  }

  async function end(): Promise<void> {
    const ending = present;
    present = null;
    await ending?.stream?.close().catch(() => undefined);
    await ending?.ended;
  }

  return {
    async subscribe(owner, listener) {
      const key = keyOf(owner);
      const set = listeners.get(key) ?? new Set();
      listeners.set(key, set.add(listener));
      await (present ?? start()).opened;
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(key) === set) listeners.delete(key);
        if (listeners.size === 0) void end();
      };
    },
    listeners: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0),
    close: end,
  };
}

function keyOf({ tenantId, environment }: Pick<WebhookEvent, 'tenantId' | 'environment'>): string {
  return `${tenantId} ${environment}`;
}
