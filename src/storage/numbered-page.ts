import type { Document } from 'mongodb';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import type { InvoicePage, NumberedPageQuery } from '../domain/invoice/invoice-queries.ts';
import { KINDS } from '../domain/invoice/kinds.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { type NumberedInvoices, numberKey } from './invoice-numbers.ts';
import { decoded } from './pages.ts';

/** Maximum number of reads for a page: numbers that are not written to a document yet are skipped. */
const MOST_TIMES = 10;

/**
 * Reads a page of the documents that have a number, in the order of the keys of the numbers: the service's series of
 * invoices by year, its series of credit notes, then the client's own numbers. So the list needs no index of its own.
 */
export async function numberedPageOf(
  { invoices, numbers }: NumberedInvoices,
  { tenantId, environment, kind, isBackwards, after, limit, maxBytes = READ_BYTES }: NumberedPageQuery,
): Promise<InvoicePage> {
  const owner = { tenantId, environment };
  const found: InvoiceDocument[] = [];
  let place = after === null ? null : numberKey(owner, after);
  let bytes = 0;
  const page = (hasMore: boolean): InvoicePage => ({
    invoices: found.map(invoiceOf),
    hasMore,
    // At least the row of the cursor is on the other side.
    hasOthers: async () => after !== null,
    bytes,
  });
  for (let times = 0; times < MOST_TIMES; times++) {
    const left = limit - found.length;
    const ranges = rangesOf(`${tenantId} ${environment} `, kind, place, isBackwards);
    const taken: { _id: string; invoiceId: string }[] = [];
    for (const _id of isBackwards ? ranges.toReversed() : ranges) {
      const rest = left + 1 - taken.length;
      if (rest <= 0) break;
      const rows = numbers.find({ _id, lostFrom: { $exists: false } } as Document).sort({ _id: isBackwards ? -1 : 1 });
      taken.push(...(await rows.limit(rest).toArray()));
    }
    const wanted = taken.slice(0, left);
    const ids = wanted.map(({ invoiceId }) => invoiceId);
    const raws = invoices.find({ _id: { $in: ids } }, { raw: true, hint: { _id: 1 } });
    const documents = new Map<string, { document: InvoiceDocument; size: number }>();
    for (const raw of (await raws.toArray()) as unknown as Uint8Array[]) {
      const document = await decoded<InvoiceDocument>(raw);
      documents.set(document._id, { document, size: raw.length });
    }
    for (const { _id, invoiceId } of wanted) {
      const row = documents.get(invoiceId);
      place = _id;
      if (!row || row.document.withheld || numberKey(owner, invoiceOf(row.document).number ?? '') !== _id) continue;
      if (found.length > 0 && bytes + row.size > maxBytes) return page(true);
      bytes += row.size;
      found.push(row.document);
    }
    if (taken.length <= left) return page(false);
    if (found.length === limit) return page(true);
  }
  return page(true);
}

/**
 * Returns the ranges of keys behind a place, from the lowest up. The series of a kind begin with the same prefix, and
 * only invoices have own numbers.
 */
function rangesOf(
  prefix: string,
  kind: NumberedPageQuery['kind'],
  place: string | null,
  isBackwards: boolean,
): Document[] {
  const own = { $gte: `${prefix}own `, $lt: `${prefix}own!` };
  // `:` is the character after `9`.
  const series = (name: string) => ({ $gte: `${prefix}${name}0`, $lt: `${prefix}${name}:` });
  const all = [series(KINDS.invoice.seriesPrefix), series(KINDS.credit_note.seriesPrefix), own];
  const ofKind = kind === null ? all : kind === 'invoice' ? [all[0], all[2]] : [all[1]];
  return ofKind.flatMap((range): Document[] => {
    if (!range || place === null) return range ? [range] : [];
    if (isBackwards)
      return place <= range.$gte ? [] : [{ $gte: range.$gte, $lt: place < range.$lt ? place : range.$lt }];
    return place >= range.$lt ? [] : [place < range.$gte ? range : { $gt: place, $lt: range.$lt }];
  });
}
