import { serviceError } from '../errors.ts';
import { orderAt } from '../order-key.ts';
import type { Principal } from '../principal.ts';
import { ownerOf } from './browse-deliveries.ts';
import type { EventFeed, EventLog } from './delivery-ports.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** An event as it comes along the stream: again, with another cursor, when it is sent again by hand. */
export interface StreamedEvent {
  /** What to resume after. */
  readonly cursor: string;
  readonly event: WebhookEvent;
}

export interface WatchEvents {
  /**
   * The events of the key's tenant and environment as they happen, test events and resends included, without end. With `after`, a cursor,
   * it begins with what came since; around it some may come twice, with the same cursor, and none is missed.
   * @throws {ServiceError} insufficient_scope; invalid_request for what is no cursor
   */
  (principal: Principal, after: string | null): Promise<AsyncIterableIterator<StreamedEvent>>;
}

/** Places in the log are given by several processes, and one that is a little lower may appear a little later. */
const OVERLAP_MS = 5000;
const PAGE = 100;
/** What a client may leave unread in memory; beyond that it is read from the log again. */
const INBOX = 500;
const REMEMBERED = 5000;
const CURSOR = /^[0-9a-f]{24}$/;

export function createWatchEvents(events: Pick<EventLog, 'after'>, feed: EventFeed): WatchEvents {
  return async (principal, after) => {
    const owner = ownerOf(principal);
    if (after !== null && !CURSOR.test(after)) {
      throw serviceError('invalid_request', 'after must be the cursor of an event of this stream.', 'after');
    }
    const opened = orderAt(Date.now());
    const inbox: WebhookEvent[] = [];
    const seen = new Set<string>(after === null ? [] : [after]);
    /** Where the log is read from when the feed alone does not do; null when it does. */
    let readFrom = after === null ? null : earlier(after);
    let highest = after;
    let gaps = 0;
    let done = false;
    let wake: () => void = () => undefined;

    function reread(): void {
      gaps++;
      inbox.length = 0;
      readFrom ??= earlier(highest ?? opened);
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

    /** Fills the inbox with what was not told yet. */
    async function read(from: string): Promise<void> {
      const before = gaps;
      const page = await events.after(owner, from, PAGE);
      // Another gap: its place to read from stands.
      if (gaps !== before) return;
      // What the feed told meanwhile comes after the log's rows, and is dropped if it is among them.
      inbox.unshift(...page);
      const last = page.at(-1);
      readFrom = page.length === PAGE && last ? last.place : null;
    }

    const iterator: AsyncIterableIterator<StreamedEvent> = {
      async next() {
        while (!done) {
          const event = inbox.shift();
          if (event && !seen.has(event.place)) {
            remember(seen, event.place);
            if (highest === null || event.place > highest) highest = event.place;
            return { done: false, value: { cursor: event.place, event } };
          }
          if (event) continue;
          if (readFrom !== null) await read(readFrom);
          else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
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
}

function earlier(place: string): string {
  return orderAt(Number.parseInt(place.slice(0, 12), 16) - OVERLAP_MS);
}

function remember(seen: Set<string>, place: string): void {
  seen.add(place);
  if (seen.size <= REMEMBERED) return;
  const [oldest] = seen;
  if (oldest !== undefined) seen.delete(oldest);
}
