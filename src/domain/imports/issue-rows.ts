import { ServiceError } from '../errors.ts';
import type { Member } from '../principal.ts';
import type { Import, ImportedInvoice } from './import.ts';
import type { RowPlace, VerdictChange } from './import-store.ts';
import type { ImportWorkNeeds } from './import-work.ts';
import { nextContentKey } from './invoice-keys.ts';
import type { IssuedAs } from './invoicing.ts';
import { isOfRows } from './issued-of-file.ts';
import type { ReadInvoice } from './reading.ts';
import { rowProblem } from './row-problems.ts';
import { saleMarksOf } from './sale-marks.ts';
import { issuedFacts, known } from './verdict-parts.ts';

export interface RowsToIssue {
  readonly imported: Import;
  readonly by: Member;
  /** Whether the file has rows with these texts. */
  readonly isOfFile: (raw: string) => Promise<boolean>;
}

type Needs = Pick<ImportWorkNeeds, 'invoicing' | 'issuedRows'>;

/**
 * Issues invoices at the same time. Other files may have been started since these invoices were checked. Therefore each
 * row claims its place among the rows with the same texts, and each invoice is issued for one row, also with concurrent
 * processes.
 * @returns the result of each invoice, in order; a rejection is an error that is not about the invoice itself
 */
export async function issueRows(
  needs: Needs,
  of: RowsToIssue,
  rows: readonly ImportedInvoice[],
): Promise<PromiseSettledResult<VerdictChange>[]> {
  const { issuedRows, invoicing } = needs;
  const idOf = (key: string) => invoicing.idOf(of.imported, key);
  const contents = rows.map(({ input }) => JSON.parse(input) as Record<string, unknown>);
  const places = rows.map(({ raw, rawPlace, key }, nth): RowPlace => {
    const sale = saleMarksOf(contents[nth] as Record<string, unknown>);
    return { raw, place: rawPlace, key, invoiceId: idOf(key), sale };
  });
  const holders = await issuedRows.claim(of.imported, places);
  const freed: RowPlace[] = [];

  async function issue(row: ImportedInvoice, nth: number): Promise<VerdictChange> {
    let [place, holder] = [places[nth] as RowPlace, holders[nth] ?? null];
    for (;;) {
      if (holder !== null) {
        const issued = await issuedAs(invoicing, holder.invoiceId);
        if (issued && !isOfRows(issued, row.raw)) {
          await issuedRows.release(of.imported, [holder]);
          [holder = null] = await issuedRows.claim(of.imported, [place]);
          continue;
        }
        // The holder with these texts may have died. Both try to store its invoice, and only one does.
        [place, holder] = [holder, null];
      }
      const { invoiceId, isOwn, present } = await issueOne(row, contents[nth] as Record<string, unknown>, place);
      if (isOwn) return { nth: row.nth, verdict: 'issued', invoiceId, awaits: true };
      if (present && isOfRows(present, row.raw)) return { nth: row.nth, ...known(invoiceId) };
      // Since the file was checked, the invoice of this key was issued for other rows.
      await issuedRows.release(of.imported, [place]);
      const key = nextContentKey(place.key);
      if (key === null) return ofTakenNumber(row, invoiceId, present);
      if (present && !present.isRejected && !(await of.isOfFile(present.raw)))
        return { nth: row.nth, ...known(invoiceId, present) };
      place = { ...place, key, invoiceId: idOf(key) };
      [holder = null] = await issuedRows.claim(of.imported, [place]);
    }
  }

  async function issueOne({ digest, raw }: ImportedInvoice, content: Record<string, unknown>, place: RowPlace) {
    try {
      const as = { importId: of.imported.id, key: place.key, digest, raw };
      return await invoicing.issue(of.by, as, content);
    } catch (error) {
      if (isOfInvoice(error)) freed.push(place);
      throw error;
    }
  }

  const settled = await Promise.allSettled(rows.map(issue));
  if (freed.length > 0) {
    // An invoice with the same key that another import has stored keeps its place.
    const stored = await invoicing.issuedAs(freed.map(({ invoiceId }) => invoiceId));
    await issuedRows.release(
      of.imported,
      freed.filter(({ invoiceId }) => !stored.has(invoiceId)),
    );
  }
  return settled.map((result, nth) => {
    if (result.status === 'fulfilled' || !isOfInvoice(result.reason)) return result;
    return { status: 'fulfilled', value: refused(rows[nth] as ImportedInvoice, result.reason) };
  });
}

async function issuedAs(invoicing: Needs['invoicing'], invoiceId: string): Promise<IssuedAs | null> {
  return (await invoicing.issuedAs([invoiceId])).get(invoiceId) ?? null;
}

/** Whether an error is about the invoice, so that issuing it later would fail, too. */
function isOfInvoice(error: unknown): error is ServiceError {
  return error instanceof ServiceError && [400, 404, 409, 422].includes(error.status);
}

function refused(row: ImportedInvoice, { problems }: ServiceError): VerdictChange {
  const place: Pick<ReadInvoice, 'origins' | 'sheet' | 'firstRow'> = { ...row, origins: {} };
  return { nth: row.nth, verdict: 'refused', problems: problems.map((each) => rowProblem(place, each)) };
}

function ofTakenNumber(row: ImportedInvoice, invoiceId: string, present: IssuedAs | null): VerdictChange {
  if (present?.digest === row.digest && !present.isRejected) return { nth: row.nth, ...known(invoiceId) };
  const place = { sheet: row.sheet, row: row.firstRow, column: null };
  const facts = { number: row.number ?? '', ...issuedFacts(invoiceId, present) };
  const problem = { place, header: null, value: row.number, code: 'number_issued_otherwise', param: 'number', facts };
  return { nth: row.nth, verdict: 'refused', problems: [problem], invoiceId };
}
