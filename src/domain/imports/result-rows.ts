import type { Invoice } from '../invoice/invoice.ts';
import type { InvoiceReading } from '../invoice/repository.ts';
import type { Import, ImportedInvoice } from './import.ts';
import type { ImportedInvoiceStore } from './import-store.ts';
import type { ImportTexts } from './import-texts.ts';
import type { RowVerdict } from './ports.ts';
import type { RowProblem } from './reading.ts';

/** Number of invoices that are read together. The largest possible ones take 25 MB. */
const AT_ONCE = 20;

export interface ResultNeeds {
  readonly importedInvoices: Pick<ImportedInvoiceStore, 'page'>;
  readonly invoices: Pick<InvoiceReading, 'find'>;
  readonly importTexts: ImportTexts;
  /** Returns the address of an accepted invoice's PDF. */
  readonly pdfUrl: (invoice: Invoice) => string;
}

/** Yields the present result of each row of a file, in the order of the rows. */
export async function* resultRows(needs: ResultNeeds, imported: Import): AsyncGenerator<RowVerdict> {
  for (let after: number | null = null; ; ) {
    const asked = { imported, only: [], after, before: null, limit: AT_ONCE } as const;
    const page: { rows: ImportedInvoice[]; hasMore: boolean } = await needs.importedInvoices.page(asked);
    // One round trip, because all are requested in one turn of the event loop.
    const invoices = await Promise.all(page.rows.map(({ invoiceId }) => invoiceId && needs.invoices.find(invoiceId)));
    for (const [index, row] of page.rows.entries()) yield* rowsOf(needs, imported, row, invoices[index] || null);
    if (!page.hasMore) return;
    after = page.rows.at(-1)?.nth ?? null;
  }
}

function* rowsOf(
  { importTexts, pdfUrl }: ResultNeeds,
  imported: Import,
  { firstRow, verdict, problems, warnings }: ImportedInvoice,
  invoice: Invoice | null,
): Generator<RowVerdict> {
  const ofRow = Map.groupBy(problems, ({ place }) => Math.max(place.row, firstRow));
  const reasonOf = (row: number): string | null =>
    ofRow
      .get(row)
      ?.map((each) => reason(importTexts, imported, each))
      .join('; ') ?? null;
  const [warning] = verdict === 'known' ? warnings : [];
  const equal = warning ? importTexts.warning(imported, warning) : null;
  // The invoice of a row with a problem belongs to another sale, or to this row before a change. The reason names it.
  const own = verdict === 'issued' || verdict === 'known' ? invoice : null;
  yield {
    row: firstRow,
    number: own?.number ?? null,
    status: importTexts.verdict(imported, verdict, own?.status ?? null),
    dgiId: own?.dgiId ?? null,
    pdfUrl: own?.status === 'accepted' ? pdfUrl(own) : null,
    reason: reasonOf(firstRow) ?? own?.rejectionReason ?? equal,
  };
  for (const row of [...ofRow.keys()].sort((a, b) => a - b))
    if (row !== firstRow) yield { row, number: null, status: null, dgiId: null, pdfUrl: null, reason: reasonOf(row) };
}

/** Names the column, because the reason is in another one. */
function reason(texts: ImportTexts, imported: Import, problem: RowProblem): string {
  const text = texts.problem(imported, problem);
  return problem.header === null ? text : `${problem.header} – ${text}`;
}
