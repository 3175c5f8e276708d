import { setTimeout as sleep } from 'node:timers/promises';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { Watch } from '../kit/watch.ts';
import { orderAt } from '../order-key.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Call, UseCase } from '../use-case.ts';
import { ownerOf } from './browse-deliveries.ts';
import { createKnownPlaces, type KnownPlaces, overlapStart, readCursor } from './event-cursor.ts';
import type { EventFeed, EventListener, EventLog } from './ports.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** An event of the stream. An event that is sent again by hand appears again. */
export interface StreamedEvent {
  /** Returns the cursor to resume after this event. Call it before the next event is requested. */
  cursor(): string;
  readonly event: WebhookEvent;
}

const PAGE = 100;
/** Maximum number of unread events in memory; beyond it they are read from the log again. */
const INBOX = 500;
/** Maximum number of entries that are looked up around the start of a stream. */
const RECENT = 1000;
const RETRY_MS = 1000;

export interface InvoiceEventsNeeds {
  readonly events: Pick<EventLog, 'after' | 'placesAfter' | 'find'>;
  readonly eventFeed: EventFeed;
  readonly storeNow: () => Date;
  /** Called when the log cannot be read; the read is retried. */
  readonly report: (message: string, error: unknown) => void;
}

type LogNeeds = Pick<InvoiceEventsNeeds, 'events'>;

/**
 * Streams the events of the key's tenant and environment as they happen, test events and resends included, without end:
 * each once, and none is missed. An event that was written while a clock was ahead may be sent again after a
 * resumption. Its input is where it starts: a cursor of this stream, to resume there; or the id of an event, to begin
 * after it; or an instant, to begin there; null: only new events.
 * @throws {ServiceError} invalid_request if the input is none of these
 */
export const invoiceEvents = {
  scope: 'read',
  async run(
    needs: InvoiceEventsNeeds,
    { by }: Call,
    after: string | null,
  ): Promise<AsyncIterableIterator<StreamedEvent>> {
    const { eventFeed, storeNow } = needs;
    const owner = ownerOf(by);
    const start = after === null ? null : await startAfter(needs, owner, after);
    const opening = start?.highest ?? orderAt(storeNow().getTime());
    // Entries that exist now were sent before or precede the start. They are read first, so that every later entry is
    // sent.
    const past = start?.places ?? (await pastOf(needs, owner, opening, start !== null));
    const known = createKnownPlaces(opening, past, () => storeNow().getTime());
    const watch = new StreamedEvents(owner, known, needs);
    watch.endBy(await eventFeed.subscribe(owner, watch));
    return watch;
  },
} as const satisfies UseCase;

/** Places of the entries around the opening that exist already; for a resumed stream only up to the opening. */
async function pastOf({ events }: LogNeeds, owner: Owner, opening: string, resumed: boolean): Promise<string[]> {
  const places = await events.placesAfter(owner, overlapStart(opening), RECENT);
  return resumed ? places.filter((place) => place <= opening) : places;
}

/** Reads the client's `after`. @throws {ServiceError} invalid_request */
async function startAfter(
  { events }: LogNeeds,
  { tenantId, environment }: Owner,
  after: string,
): Promise<{ highest: string; places: string[] | null }> {
  const event = isId('evt', after) ? await events.find(tenantId, environment, after) : null;
  const start = event ? { highest: event.place, places: null } : (readCursor(after) ?? startAt(after));
  if (start) return start;
  throw serviceError(
    'invalid_request',
    'after must be a cursor of this stream, the id of an event that is still kept, or an instant such as 2026-01-31T12:00:00Z.',
    'after',
  );
}

/** Returns the start of a stream at an instant in UTC, ISO 8601 with seconds; null if the text is no such instant. */
function startAt(text: string): { highest: string; places: null } | null {
  if (text.length > 30 || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/.test(text)) return null;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? null : { highest: orderAt(milliseconds), places: null };
}

/** The events of one stream. */
class StreamedEvents extends Watch<StreamedEvent> implements EventListener {
  readonly #owner: Owner;
  readonly #known: KnownPlaces;
  readonly #parts: Pick<InvoiceEventsNeeds, 'events' | 'report'>;
  /** Events from the feed. */
  #inbox: WebhookEvent[] = [];
  /** Events read from the log after a gap, which are sent first. */
  #backlog: WebhookEvent[] = [];
  /** The place from which the log must be read; null when the backlog is complete. */
  #readFrom: string | null;
  #gaps = 0;
  #unsubscribe: () => void = () => undefined;

  constructor(owner: Owner, known: KnownPlaces, parts: Pick<InvoiceEventsNeeds, 'events' | 'report'>) {
    super();
    this.#owner = owner;
    this.#known = known;
    this.#parts = parts;
    this.#readFrom = known.readFrom();
  }

  /** @param unsubscribe is called when the iteration has ended */
  endBy(unsubscribe: () => void): void {
    this.#unsubscribe = unsubscribe;
  }

  protected onEnd(): void {
    this.#unsubscribe();
  }

  event(event: WebhookEvent): void {
    if (this.#inbox.length >= INBOX) this.gap();
    else {
      this.#inbox.push(event);
      this.ring();
    }
  }

  gap(): void {
    this.#gaps++;
    this.#inbox = [];
    this.#backlog = [];
    this.#readFrom = this.#known.readFrom();
    this.ring();
  }

  /** Returns the next event in memory that was not sent before. */
  protected take(): StreamedEvent | null {
    for (;;) {
      const event = this.#backlog.shift() ?? (this.#readFrom === null ? this.#inbox.shift() : undefined);
      if (!event) return null;
      if (this.#known.has(event.place)) continue;
      this.#known.add(event.place);
      return { cursor: () => this.#known.cursor(), event };
    }
  }

  protected override read(): Promise<void> | null {
    return this.#readFrom === null ? null : this.#readPage(this.#readFrom);
  }

  async #readPage(from: string): Promise<void> {
    const seen = this.#gaps;
    try {
      const page = await this.#parts.events.after(this.#owner, from, PAGE);
      // Another gap occurred during the read: its `#readFrom` stays.
      if (this.#gaps !== seen) return;
      this.#backlog = page;
      this.#readFrom = page.length === PAGE ? (page.at(-1)?.place ?? null) : null;
    } catch (error) {
      this.#parts.report('the log of events could not be read for a stream; the read is retried', error);
      await sleep(RETRY_MS);
    }
  }
}
