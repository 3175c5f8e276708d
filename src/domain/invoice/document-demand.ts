import { later } from '../later.ts';
import { DOCUMENT_WAIT_MS } from '../limits.ts';
import { DOCUMENTS, type DocumentKind } from './documents.ts';
import type { Invoice, Work } from './invoice.ts';
import { ASKED_AGAIN_AFTER_MS } from './pauses.ts';
import type { InvoiceFeed, InvoiceRepository, StageQueue } from './repository.ts';

/**
 * Maximum number of PDFs of a tenant that are drawn at the same time because this process asks for them. Further ones
 * wait in line, so that a client that asks for many PDFs at once delays those of other tenants by few.
 */
const PDFS_OF_A_TENANT = 8;

/** The requests of this process that wait for documents. */
export interface DocumentDemand {
  /**
   * Waits for a document of an accepted invoice that is still to come. A PDF that was left for idle time, or whose
   * next attempt is minutes away, is drawn at once, and once for all who ask for it.
   * @returns the invoice with the document; null when it is still to come after {@link DOCUMENT_WAIT_MS}
   */
  await(invoice: Invoice, kind: DocumentKind): Promise<Invoice | null>;
  /** Whether somebody waits for the invoice's PDF and its tenant's PDFs in progress are not too many. */
  isAwaited(invoice: Pick<Invoice, 'id' | 'tenantId'>): boolean;
}

/** A PDF for which at least one request waits. */
interface AwaitedPdf {
  requests: number;
  /** Gives its place back, or leaves the line; null while it has neither. */
  leave: (() => void) | null;
}

/** @param report receives failures to make work due; the requests wait on, and the next ones try again */
export function createDocumentDemand(
  invoices: Pick<InvoiceRepository, 'find' | 'hurry'>,
  queue: StageQueue,
  feed: InvoiceFeed,
  report: (error: unknown) => void,
): DocumentDemand {
  const pdfs = new Map<string, AwaitedPdf>();
  const lines = createLines(PDFS_OF_A_TENANT);

  /**
   * Makes the drawing of a PDF due, once for all who wait for it.
   * @param onGone called when it did not wait any more, so that the caller may have missed how it went on
   */
  function hurry({ id, tenantId, work }: Invoice, onGone: () => void): void {
    const pdf = pdfs.get(id);
    if (!pdf || pdf.leave || !work || !canBeHurried(work)) return;
    pdf.leave = lines.enter(tenantId, () => {
      invoices
        .hurry(id, later(new Date(), -ASKED_AGAIN_AFTER_MS))
        .then((due) => {
          if (due) return queue.enqueue(due, 0);
          // A place is for a PDF that is drawn because of the request.
          pdf.leave?.();
          pdf.leave = () => {};
          return onGone();
        })
        .catch(report);
    });
  }

  async function storedWithin(known: Invoice, kind: DocumentKind): Promise<Invoice | null> {
    let woken = Promise.withResolvers<void>();
    let isOver = false;
    const wake = () => woken.resolve();
    const unsubscribe = feed.subscribe(known.id, (news) => news.documentStored && wake());
    const timer = setTimeout(() => {
      isOver = true;
      wake();
    }, DOCUMENT_WAIT_MS);
    try {
      // What was stored between the caller's read and the subscription is noticed when the work is made due, at once.
      const isToHurry = kind === 'pdf' && known.work !== null && canBeHurried(known.work);
      const isFirst = !pdfs.get(known.id)?.leave && lines.hasPlace(known.tenantId);
      let invoice = isToHurry && isFirst ? known : await invoices.find(known.id);
      for (;;) {
        if (invoice && DOCUMENTS[kind].stored(invoice)) return invoice;
        // The work becomes idle in the update that stores the receipt, which wakes those who wait.
        if (invoice && kind === 'pdf') hurry(invoice, wake);
        if (isOver) return null;
        await woken.promise;
        woken = Promise.withResolvers<void>();
        invoice = await invoices.find(known.id);
      }
    } finally {
      clearTimeout(timer);
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

/** Whether the PDF waits for idle time, or for its next attempt after one that failed a while ago. */
function canBeHurried({ stage, idle, claims, blocked, dueAt, since }: Work): boolean {
  if (idle) return true;
  const now = new Date();
  const waits = stage === 'render' && claims === 0 && blocked === null && dueAt > now;
  return waits && since <= later(now, -ASKED_AGAIN_AFTER_MS);
}

/** Lines of tenants: in each, up to `places` entries run at the same time, and the others wait in their order. */
function createLines(places: number) {
  const lines = new Map<string, { running: number; readonly waiting: Set<() => void> }>();

  return {
    hasPlace: (tenantId: string): boolean => (lines.get(tenantId)?.running ?? 0) < places,
    /**
     * Calls `start` at once, or when it is its turn.
     * @returns a function that gives the place back, or leaves the line
     */
    enter(tenantId: string, start: () => void): () => void {
      const line = lines.get(tenantId) ?? { running: 0, waiting: new Set() };
      lines.set(tenantId, line);
      const begin = () => {
        line.waiting.delete(begin);
        line.running += 1;
        start();
      };
      if (line.running < places) begin();
      else line.waiting.add(begin);
      return () => {
        if (line.waiting.delete(begin)) return;
        line.running -= 1;
        const [next] = line.waiting;
        if (next) next();
        else if (line.running === 0) lines.delete(tenantId);
      };
    },
  };
}
