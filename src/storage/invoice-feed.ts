import type { ChangeStreamDocument, Db } from 'mongodb';
import { DOCUMENT_FIELDS } from '../domain/invoice/documents.ts';
import type { InvoiceFeed, InvoiceNews } from '../domain/invoice/feed.ts';
import type { InvoiceEvent } from '../domain/invoice/invoice.ts';
import { type FollowedChanges, followChanges } from './follow-changes.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { createListeners } from './listeners.ts';

/** The documents that are stored after acceptance. No listener waits for the submitted XML. */
const FOLLOWING = DOCUMENT_FIELDS.filter((name) => name !== 'xml');

/** How long the change stream stays open without subscribers, milliseconds. */
const IDLE_MS = 5000;

/** Feeds changes of invoices to subscribers: one change stream per process, open while there are any. */
export interface InvoiceFeedService extends InvoiceFeed {
  /** Number of subscriptions. */
  listeners(): number;
  /** Opens the stream, so that a server without change streams fails now. Resolves when it is open. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads the events from the change itself, never from a look-up of the document: after two fast transitions, look-ups
 * would show the second one twice (docs/decisions/0007).
 * @param onError called for each failure of the change stream, which is then reopened automatically
 */
export function createInvoiceFeed(db: Db, onError: (error: unknown) => void): InvoiceFeedService {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const listeners = createListeners<(news: InvoiceNews) => void>();
  let followed: FollowedChanges | null = null;
  let idle: NodeJS.Timeout | null = null;
  let isClosed = false;

  const tell = (news: InvoiceNews) => listeners.tell(news.invoiceId, (listener) => listener(news));

  /**
   * After a gap, reports all events of the invoices that have listeners. Listeners ignore events that they already
   * know.
   */
  async function catchUp(): Promise<void> {
    const ids = listeners.keys();
    for (let from = 0; from < ids.length; from += 500) {
      const found = invoices.find(
        { _id: { $in: ids.slice(from, from + 500) } },
        { projection: { events: 1, withheld: 1 } },
      );
      // A document may have been stored during the gap, so listeners must read the invoice.
      for await (const { _id, events, withheld } of found)
        await tell({ invoiceId: _id, events, documentStored: true, ...(withheld && { withheld: true }) });
    }
  }

  async function tellOf(change: ChangeStreamDocument<InvoiceDocument>): Promise<void> {
    if (change.operationType !== 'update' || !listeners.has(change.documentKey._id)) return;
    const fields = (change.updateDescription.updatedFields ?? {}) as Record<string, unknown>;
    const events: InvoiceEvent[] = [];
    for (const [path, value] of Object.entries(fields)) {
      if (path === 'events') events.push(...(value as InvoiceEvent[]));
      else if (path.startsWith('events.')) events.push(value as InvoiceEvent);
    }
    const documentStored = FOLLOWING.some((name) => fields[name] !== undefined && fields[name] !== null);
    const withheld = fields.withheld !== undefined;
    if (events.length > 0 || documentStored || withheld)
      await tell({ invoiceId: change.documentKey._id, events, documentStored, ...(withheld && { withheld }) });
  }

  function follow(): void {
    if (idle) clearTimeout(idle);
    idle = null;
    if (isClosed) return;
    // A subscriber may read the invoice before the stream is open.
    followed ??= followChanges(invoices, ['update'], { change: tellOf, gap: catchUp, gapAtStart: true, onError });
  }

  /** Ends an idle stream, because each open stream costs the process as much as the changes of all invoices. */
  function endWhenIdle(): void {
    if (listeners.count() === 0 && !isClosed) idle ??= setTimeout(() => void end(), IDLE_MS);
  }

  async function end(): Promise<void> {
    if (idle) clearTimeout(idle);
    idle = null;
    const ending = followed;
    followed = null;
    await ending?.close();
  }

  return {
    async start() {
      follow();
      await followed?.opened;
      endWhenIdle();
    },
    subscribe(invoiceId, listener) {
      const remove = listeners.add(invoiceId, listener);
      follow();
      return () => {
        remove();
        endWhenIdle();
      };
    },
    listeners: listeners.count,
    async close() {
      isClosed = true;
      await end();
    },
  };
}
