import type { ChangeStream, ChangeStreamDocument, Db } from 'mongodb';
import type { InvoiceEvent } from '../domain/invoice/invoice.ts';
import type { InvoiceFeed, InvoiceNews } from '../domain/invoice/repository.ts';
import { tellAll } from './fan-out.ts';
import type { InvoiceDocument } from './invoices.ts';

type Listener = (news: InvoiceNews) => void;

const RECONNECT_MS = 250;

/** The feed of invoices' changes: one change stream for this process. */
export interface InvoiceFeedService extends InvoiceFeed {
  /** How many subscriptions there are. */
  listeners(): number;
  /** Resolves when the stream is open for the first time. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Events are taken from the outbox's entries in the update itself, never from a look-up of the document, which would show two fast
 * transitions as the last one twice (design, section 4).
 * @param onError told of each loss of the stream; it is reopened by itself
 */
export function createInvoiceFeed(db: Db, onError: (error: unknown) => void): InvoiceFeedService {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const listeners = new Map<string, Set<Listener>>();
  let stream: ChangeStream<InvoiceDocument> | null = null;
  let closed = false;
  let running: Promise<void> | null = null;

  const tell = (news: InvoiceNews) => tellAll(listeners.get(news.invoiceId), (listener) => listener(news));

  /** After a gap: whatever the listened-to invoices went through meanwhile. Listeners drop what they know. */
  async function catchUp(): Promise<void> {
    const ids = [...listeners.keys()];
    for (let from = 0; from < ids.length; from += 500) {
      const found = invoices.find({ _id: { $in: ids.slice(from, from + 500) } }, { projection: { events: 1, pdf: 1 } });
      for await (const { _id, events, pdf } of found) await tell({ invoiceId: _id, events, pdfStored: pdf !== null });
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
    const pdfStored = fields.pdf !== undefined && fields.pdf !== null;
    if (events.length > 0 || pdfStored) await tell({ invoiceId: change.documentKey._id, events, pdfStored });
  }

  /** @param onOpen called each time that the server has opened the stream: from then on nothing is missed, unless it fails */
  async function pump(onOpen: () => Promise<void>): Promise<void> {
    while (!closed) {
      const opened = invoices.watch<InvoiceDocument>([{ $match: { operationType: 'update' } }]);
      stream = opened;
      opened.once('resumeTokenChanged', () => {
        onOpen().catch((error: unknown) => {
          if (closed) return;
          onError(error);
          // Opened again, it catches up again.
          void opened.close().catch(() => undefined);
        });
      });
      try {
        for await (const change of opened) await tellOf(change as ChangeStreamDocument<InvoiceDocument>);
      } catch (error) {
        if (!closed) onError(error);
      }
      await opened.close().catch(() => undefined);
      if (!closed) await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  return {
    start() {
      return new Promise((resolve) => {
        let first = true;
        running = pump(async () => {
          const isFirst = first;
          first = false;
          resolve();
          if (!isFirst) await catchUp();
        });
      });
    },
    subscribe(invoiceId, listener) {
      const set = listeners.get(invoiceId) ?? new Set();
      listeners.set(invoiceId, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(invoiceId) === set) listeners.delete(invoiceId);
      };
    },
    listeners: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0),
    async close() {
      closed = true;
      await stream?.close().catch(() => undefined);
      await running;
    },
  };
}
