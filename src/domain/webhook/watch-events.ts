import { setTimeout as sleep } from 'node:timers/promises';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { orderAt } from '../order-key.ts';
import type { Principal } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import { ownerOf } from './browse-deliveries.ts';
import { createKnownPlaces, overlapStart, readCursor } from './event-cursor.ts';
import type { EventFeed, EventLog } from './ports.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** An event of the stream. An event that is sent again by hand appears again. */
export interface StreamedEvent {
  /** The cursor to resume after this event. Call it before the next event is requested. */
  cursor(): string;
  readonly event: WebhookEvent;
}

const PAGE = 100;
/** Maximum number of unread events in memory; beyond it they are read from the log again. */
const INBOX = 500;
/** Maximum number of entries that are looked up around the start of a stream. */
const RECENT = 1000;
const RETRY_MS = 1000;

export interface WatchEventsParts {
  readonly events: Pick<EventLog, 'after' | 'placesAfter' | 'find'>;
  readonly feed: EventFeed;
  readonly now: () => Date;
  /** Called when the log cannot be read; the read is retried. */
  readonly report: (message: string, error: unknown) => void;
}

export type WatchEvents = ReturnType<typeof createWatchEvents>;

export function createWatchEvents({ events, feed, now, report }: WatchEventsParts) {
  /**
   * Streams the events of the key's tenant and environment as they happen, test events and resends included, without
   * end: each once, and none is missed.
   * @param after a cursor of this stream, to resume there; or the id of an event, to begin after it; null: only new
   *   events
   * @throws {ServiceError} insufficient_scope; invalid_request if `after` is neither a cursor nor a known event
   */
  return async (principal: Principal, after: string | null): Promise<AsyncIterableIterator<StreamedEvent>> => {
    const owner = ownerOf(principal);
    const start = after === null ? null : await startAfter(owner, after);
    const opening = start?.highest ?? orderAt(now().getTime());
    // Entries that exist now were sent before or precede the start. They are read first, so that every later entry is
    // sent.
    const known = createKnownPlaces(opening, start?.places ?? (await pastOf(owner, opening, start !== null)));
    /** `inbox`: events from the feed. `backlog`: events read from the log after a gap, which are sent first. */
    let inbox: WebhookEvent[] = [];
    let backlog: WebhookEvent[] = [];
    /** The place from which the log must be read; null when the backlog is complete. */
    let readFrom: string | null = known.readFrom();
    let gaps = 0;
    let done = false;
    let wake: () => void = () => undefined;

    function reread(): void {
      gaps++;
      [inbox, backlog] = [[], []];
      readFrom = known.readFrom();
      wake();
    }

    const unsubscribe = await feed.subscribe(owner, {
      event(event) {
        if (inbox.length >= INBOX) return reread();
        inbox.push(event);
        wake();
      },
      gap: reread,
    });
    function finish() {
      done = true;
      unsubscribe();
      wake();
      return { done: true, value: undefined } as const;
    }

    async function read(from: string): Promise<void> {
      const seen = gaps;
      const page = await events.after(owner, from, PAGE);
      // Another gap occurred during the read: its `readFrom` stays.
      if (gaps !== seen) return;
      backlog = page;
      readFrom = page.length === PAGE ? (page.at(-1)?.place ?? null) : null;
    }

    const iterator: AsyncIterableIterator<StreamedEvent> = {
      async next() {
        while (!done) {
          const event = backlog.shift() ?? (readFrom === null ? inbox.shift() : undefined);
          if (event) {
            if (known.has(event.place)) continue;
            known.add(event.place);
            return { done: false, value: { cursor: known.cursor, event } };
          }
          if (readFrom === null) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
            continue;
          }
          await read(readFrom).catch(async (error) => {
            report('the log of events could not be read for a stream; the read is retried', error);
            await sleep(RETRY_MS);
          });
        }
        return finish();
      },
      // May be called while `next` waits.
      async return() {
        return finish();
      },
      async throw(error) {
        finish();
        throw error;
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
    return iterator;
  };

  /** Places of the entries around the opening that exist already; for a resumed stream only up to the opening. */
  async function pastOf(owner: Owner, opening: string, resumed: boolean): Promise<string[]> {
    const places = await events.placesAfter(owner, overlapStart(opening), RECENT);
    return resumed ? places.filter((place) => place <= opening) : places;
  }

  /** Reads the client's `after`. @throws {ServiceError} invalid_request */
  async function startAfter(
    { tenantId, environment }: Owner,
    after: string,
  ): Promise<{ highest: string; places: string[] | null }> {
    const event = isId('evt', after) ? await events.find(tenantId, environment, after) : null;
    const start = event ? { highest: event.place, places: null } : readCursor(after);
    if (start) return start;
    throw serviceError(
      'invalid_request',
      'after must be a cursor of this stream, or the id of an event that is still kept.',
      'after',
    );
  }
}
