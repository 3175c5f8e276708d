import type { Owner } from '../tenant/tenant.ts';
import { type ImportedInvoice, KEPT_WARNINGS } from './import.ts';
import type { IssuedRows } from './import-store.ts';
import type { ImportInvoicing, IssuedAs } from './invoicing.ts';
import type { IssuedOfFile } from './issued-of-file.ts';
import { mayBeSame, type SaleMarks, saleMarksOf } from './sale-marks.ts';
import { similarSale } from './verdict-parts.ts';

interface Needs {
  readonly invoicing: Pick<ImportInvoicing, 'issuedAs'>;
  readonly issuedRows: Pick<IssuedRows, 'alike'>;
}

/**
 * Adds a warning to each ready invoice that resembles an invoice issued for other rows: it may be the same sale, read
 * or written differently then. Takes one round trip if any invoice is ready, and another one if any is alike.
 */
export async function withSimilarSales(
  { invoicing, issuedRows }: Needs,
  owner: Owner,
  issuedOfFile: IssuedOfFile,
  invoices: readonly ImportedInvoice[],
): Promise<ImportedInvoice[]> {
  const marks = new Map(
    invoices.flatMap(({ nth, verdict, input }) => (verdict === 'ready' ? [[nth, saleMarksOf(JSON.parse(input))]] : [])),
  );
  const asked = new Set([...marks.values()].flatMap(({ lines }) => lines));
  const alike = asked.size > 0 ? await issuedRows.alike(owner, [...asked]) : [];
  const others = alike.filter(({ invoiceId }) => !issuedOfFile.isTaken(invoiceId));
  const similarTo = ({ lines, facts }: SaleMarks) =>
    others.filter(({ sale }) => mayBeSame(facts, sale.facts) && sale.lines.some((line) => lines.includes(line)));
  const similar = new Map([...marks].map(([nth, each]) => [nth, similarTo(each)]));
  const ids = new Set([...similar.values()].flat().map(({ invoiceId }) => invoiceId));
  const issued = ids.size > 0 ? await invoicing.issuedAs([...ids]) : new Map<string, IssuedAs>();
  return invoices.map((each) => {
    const same = similar.get(each.nth)?.find(({ invoiceId }) => issued.get(invoiceId)?.isRejected === false);
    const earlier = same && issued.get(same.invoiceId);
    if (!same || !earlier) return each;
    return { ...each, warnings: [similarSale(same.invoiceId, earlier), ...each.warnings].slice(0, KEPT_WARNINGS) };
  });
}
