import { statusOfEvent } from '../event.ts';
import { createBell } from '../kit/bell.ts';
import type { Principal } from '../principal.ts';
import type { InvoiceFeed } from './feed.ts';
import type { Invoice, InvoiceEvent } from './invoice.ts';
import type { Kind } from './kinds.ts';
import { isFinal } from './lifecycle.ts';
import type { ReadInvoice } from './read-invoice.ts';

/** A status change for a live page. */
export interface StatusChange {
  readonly invoiceId: string;
  readonly event: InvoiceEvent;
}

/** The changes of an invoice. They end with `erased` if its tenant is erased before the final change. */
export type StatusChanges = AsyncIterableIterator<StatusChange, 'erased' | undefined>;

export type WatchInvoice = ReturnType<typeof createWatchInvoice>;

export function createWatchInvoice(readInvoice: ReadInvoice, feed: InvoiceFeed) {
  /**
   * Streams the status changes of a document of this kind, each once and in order, and ends after the final one
   * (docs/decisions/0023). Starts with the current status unless it is `pending`. Ends early if its tenant is erased.
   * @param afterEventId an event of this document; the stream starts with the changes after it
   * @throws {ServiceError} as {@link ReadInvoice}, before the first value
   */
  return async (
    principal: Principal,
    invoiceId: string,
    clientSecret: string | null,
    afterEventId: string | null,
    kind: Kind = 'invoice',
  ): Promise<StatusChanges> => {
    // Subscribes before the invoice is read, so that no change is missed. A change in between arrives twice but is sent
    // once.
    const inbox = createInbox();
    const unsubscribe = feed.subscribe(invoiceId, (news) => (news.withheld ? inbox.close() : inbox.put(news.events)));
    try {
      const invoice = await readInvoice(principal, invoiceId, clientSecret, kind);
      const start = startOf(invoice, afterEventId);
      inbox.put(invoice.events);
      const changes = changesAfter(invoiceId, start, inbox, unsubscribe);
      // If the client already has the final event, the iteration ends at once.
      const isSent = invoice.events.every((event) => event.sequence <= start || !isStatusChange(event));
      if (isFinal(invoice.status) && isSent) await changes.return?.();
      return changes;
    } catch (error) {
      unsubscribe();
      throw error;
    }
  };
}

/** Returns the sequence number after which events are sent. */
function startOf(invoice: Invoice, afterEventId: string | null): number {
  const resumed = invoice.events.find((event) => event.id === afterEventId);
  return resumed?.sequence ?? (invoice.events.findLast(isStatusChange)?.sequence ?? 1) - 1;
}

/** Whether an event changes the status. Other events are not part of the stream. */
function isStatusChange({ type }: InvoiceEvent): boolean {
  return statusOfEvent(type) !== null;
}

interface Inbox {
  put(events: readonly InvoiceEvent[]): void;
  /** Resolves to the event with this sequence number when it has arrived; null when closed. */
  take(sequence: number): Promise<InvoiceEvent | null>;
  close(): void;
}

/** Creates an inbox for events that have not been sent yet, at most one of each type. */
function createInbox(): Inbox {
  const events = new Map<number, InvoiceEvent>();
  let closed = false;
  const bell = createBell();
  return {
    put(arrived) {
      for (const event of arrived) events.set(event.sequence, event);
      bell.ring();
    },
    async take(sequence) {
      while (!closed) {
        const event = events.get(sequence);
        if (event) return event;
        await bell.heard();
      }
      return null;
    },
    close() {
      closed = true;
      bell.ring();
    },
  };
}

function changesAfter(invoiceId: string, start: number, inbox: Inbox, unsubscribe: () => void): StatusChanges {
  let last = start;
  let done = false;
  const finish = () => {
    done = true;
    unsubscribe();
    inbox.close();
    return { done: true, value: undefined } as const;
  };
  return {
    async next() {
      if (done) return finish();
      let event: InvoiceEvent | null;
      do {
        event = await inbox.take(last + 1);
        if (!event) return done ? finish() : { ...finish(), value: 'erased' };
        last = event.sequence;
      } while (!isStatusChange(event));
      // After the final event the next call ends the iteration.
      if (isFinal(event.status)) {
        done = true;
        unsubscribe();
      }
      return { done: false, value: { invoiceId, event } };
    },
    // The transport calls this when the client disconnects, also while `next` waits; an async generator could not end
    // then.
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
}
