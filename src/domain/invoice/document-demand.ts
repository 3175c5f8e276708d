import { createBell } from '../kit/bell.ts';
import { createFairQueue } from '../kit/fair-queue.ts';
import { later } from '../later.ts';
import { DOCUMENT_WAIT_MS } from '../limits.ts';
import { DOCUMENTS, type DocumentKind } from './documents.ts';
import type { InvoiceFeed } from './feed.ts';
import type { Invoice, Work } from './invoice.ts';
import { ASKED_AGAIN_AFTER_MS } from './pauses.ts';
import type { InvoiceReading, WaitingInvoices } from './repository.ts';
import type { StageQueue } from './stage-queue.ts';

/**
 * Maximum number of a tenant's PDFs that are drawn at once for requests to this process. Further ones wait in line, so
 * that a client that requests many PDFs delays those of other tenants only a little.
 */
const PDFS_OF_A_TENANT = 8;

/** Serves the requests of this process that wait for documents. */
export interface DocumentDemand {
  /**
   * Waits for a document of an accepted invoice that does not exist yet. A PDF that was left for idle time, or whose
   * next attempt is minutes away, is drawn at once, and only once for all waiting requests.
   * @returns the invoice with the document; null if it still does not exist after {@link DOCUMENT_WAIT_MS}
   */
  await(invoice: Invoice, kind: DocumentKind): Promise<Invoice | null>;
  /** Whether a request waits for the invoice's PDF and its tenant may have another PDF drawn. */
  isAwaited(invoice: Pick<Invoice, 'id' | 'tenantId'>): boolean;
}

/** A PDF that at least one request waits for. */
interface AwaitedPdf {
  requests: number;
  /** Frees the PDF's place or removes it from the line; null while it has neither. */
  leave: (() => void) | null;
}

/**
 * Creates the demand.
 * @param report receives a failure to make work due. The waiting requests continue to wait, and later requests try
 *   again
 */
export function createDocumentDemand(
  invoices: Pick<InvoiceReading, 'find'> & Pick<WaitingInvoices, 'hurry'>,
  queue: StageQueue,
  feed: InvoiceFeed,
  report: (error: unknown) => void,
): DocumentDemand {
  const pdfs = new Map<string, AwaitedPdf>();
  const lines = createFairQueue({ places: Number.POSITIVE_INFINITY, placesPerKey: PDFS_OF_A_TENANT });

  /**
   * Makes the drawing of a PDF due, once for all waiting requests.
   * @param onGone called when the work no longer waits, so that the caller must read the invoice again
   */
  function hurry({ id, tenantId, work }: Invoice, onGone: () => void): void {
    const pdf = pdfs.get(id);
    if (!pdf || pdf.leave || !work || !canBeHurried(work)) return;
    const start = (leave: () => void) => {
      invoices
        .hurry(id, later(new Date(), -ASKED_AGAIN_AFTER_MS))
        .then((due) => {
          if (due) return queue.enqueue(due, 0);
          // Only a PDF that is drawn because of the request keeps its place.
          leave();
          return onGone();
        })
        .catch(report);
    };
    pdf.leave = lines.lineUp(tenantId, start, report);
  }

  async function storedWithin(known: Invoice, kind: DocumentKind): Promise<Invoice | null> {
    const bell = createBell();
    const end = performance.now() + DOCUMENT_WAIT_MS;
    const unsubscribe = feed.subscribe(known.id, (news) => news.documentStored && bell.ring());
    try {
      // If this call makes the work due immediately, the invoice need not be read again, because that update detects
      // changes since the caller's read.
      const isToHurry = kind === 'pdf' && known.work !== null && canBeHurried(known.work);
      const isFirst = !pdfs.get(known.id)?.leave && lines.hasPlace(known.tenantId);
      let invoice = isToHurry && isFirst ? known : await invoices.find(known.id);
      for (;;) {
        if (invoice && DOCUMENTS[kind].stored(invoice)) return invoice;
        // The work may become idle in the update that stores the receipt, which wakes the waiting requests.
        if (invoice && kind === 'pdf') hurry(invoice, bell.ring);
        const leftMs = end - performance.now();
        if (leftMs <= 0) return null;
        await bell.heard(leftMs);
        invoice = await invoices.find(known.id);
      }
    } finally {
      unsubscribe();
    }
  }

  return {
    async await(invoice, kind) {
      if (kind !== 'pdf') return storedWithin(invoice, kind);
      const { id } = invoice;
      const pdf = pdfs.get(id) ?? { requests: 0, leave: null };
      pdfs.set(id, pdf);
      pdf.requests += 1;
      try {
        return await storedWithin(invoice, kind);
      } finally {
        pdf.requests -= 1;
        if (pdf.requests === 0) {
          pdfs.delete(id);
          pdf.leave?.();
        }
      }
    },
    isAwaited: ({ id, tenantId }) => pdfs.has(id) && lines.hasPlace(tenantId),
  };
}

/** Whether the PDF waits for idle time, or for its next attempt after one that failed some time ago. */
function canBeHurried({ stage, idle, claims, blocked, dueAt, since }: Work): boolean {
  if (idle) return true;
  const now = new Date();
  const waits = stage === 'render' && claims === 0 && blocked === null && dueAt > now;
  return waits && since <= later(now, -ASKED_AGAIN_AFTER_MS);
}
