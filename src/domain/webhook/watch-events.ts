import { setTimeout as sleep } from 'node:timers/promises';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { orderAt } from '../order-key.ts';
import type { Principal } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import { ownerOf } from './browse-deliveries.ts';
import { before, createKnown, readCursor } from './event-cursor.ts';
import type { EventFeed, EventLog } from './ports.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** An event as it comes along the stream: again, when it is sent again by hand. */
export interface StreamedEvent {
  /** What to resume after; to be asked for before the next event is. */
  cursor(): string;
  readonly event: WebhookEvent;
}

const PAGE = 100;
/** What a client may leave unread in memory; beyond that it is read from the log again. */
const INBOX = 500;
/** Places that are looked at for what happened right before. */
const RECENT = 1000;
const RETRY_MS = 1000;

export interface WatchEventsParts {
  readonly events: Pick<EventLog, 'after' | 'placesAfter' | 'find'>;
  readonly feed: EventFeed;
  readonly now: () => Date;
  /** Is told when the log can not be read; it is tried again. */
  readonly report: (message: string, error: unknown) => void;
}

export type WatchEvents = ReturnType<typeof createWatchEvents>;

export function createWatchEvents({ events, feed, now, report }: WatchEventsParts) {
  /**
   * The events of the key's tenant and environment as they happen, test events and resends included, without end; each once, and none
   * missed. With `after`, the cursor that came with an event, it goes on where that stream was; with an event's id, with what the log has
   * after it.
   * @throws {ServiceError} insufficient_scope; invalid_request for what is no cursor and no event
   */
  return async (principal: Principal, after: string | null): Promise<AsyncIterableIterator<StreamedEvent>> => {
    const owner = ownerOf(principal);
    const start = after === null ? null : await startAfter(owner, after);
    const opening = start?.highest ?? orderAt(now().getTime());
    // What is there by now was told before, or comes before the start: read first, so that all that appears from here on is told.
    const known = createKnown(opening, start?.places ?? (await pastOf(owner, opening, start !== null)));
    /** What the feed tells, and what is read from the log where that does not do; the latter is told first. */
    let inbox: WebhookEvent[] = [];
    let backlog: WebhookEvent[] = [];
    /** Where the log is to be read from; null when all of it is in the backlog. */
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
      // Another gap: its place to read from stands.
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
            report('the log of events could not be read for a stream; it is tried again', error);
            await sleep(RETRY_MS);
          });
        }
        return finish();
      },
      // Also while `next` waits.
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

  /** Places of what is there already around the opening; of a resumed stream up to there. */
  async function pastOf(owner: Owner, opening: string, resumed: boolean): Promise<string[]> {
    const places = await events.placesAfter(owner, before(opening), RECENT);
    return resumed ? places.filter((place) => place <= opening) : places;
  }

  /** What a client says that it knows. @throws {ServiceError} invalid_request */
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
