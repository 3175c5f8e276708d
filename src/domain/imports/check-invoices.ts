import type { Member } from '../principal.ts';
import { type Import, type ImportCounts, type ImportedInvoice, KEPT_WARNINGS, NO_COUNTS } from './import.ts';
import { withRest } from './import-work.ts';
import type { ImportInvoicing } from './invoicing.ts';
import { cellOf } from './origins.ts';
import type { ReadInvoice, RowProblem } from './reading.ts';
import { problemsOfRows } from './row-problems.ts';

/** Invoices that are checked at the same time: their documents are written one after the other anyway. */
const AT_ONCE = 8;

/** Gives the invoices of one file their verdicts, in the order of the file. */
export interface InvoiceChecker {
  check(batch: readonly ReadInvoice[]): Promise<ImportedInvoice[]>;
  /** How many there were so far. */
  counts(): ImportCounts;
}

/** An invoice of the file with what it is known by. */
interface Keyed {
  readonly read: ReadInvoice;
  readonly digest: string;
  readonly key: string;
  readonly invoiceId: string;
  /** The first row of an earlier invoice of the file with the same number; null if there is none. */
  readonly repeats: number | null;
}

export function createInvoiceChecker(invoicing: ImportInvoicing, imported: Import, by: Member): InvoiceChecker {
  const { tenantId, environment } = imported;
  /** How often each content without a number has come. */
  const occurrences = new Map<string, number>();
  /** The first row of each number. */
  const numbers = new Map<string, number>();
  let counts: ImportCounts = NO_COUNTS;

  /**
   * An invoice is known by the tenant's own number, or by its content and which of the equal ones of the file it is. So
   * the same file again has the same keys, and a corrected one others only where it was corrected.
   */
  function keyed(read: ReadInvoice): Keyed {
    const digest = invoicing.digestOf(read.input);
    const number = numberOf(read.input);
    const repeats = number === null ? null : (numbers.get(number) ?? null);
    if (number !== null && repeats === null) numbers.set(number, read.firstRow);
    const occurrence = (occurrences.get(digest) ?? 0) + 1;
    if (number === null) occurrences.set(digest, occurrence);
    const key = number === null ? `content ${digest} ${occurrence}` : `number ${number}`;
    return { read, digest, key, invoiceId: invoicing.idOf({ tenantId, environment }, key), repeats };
  }

  async function verdictOf(
    { read, digest, key, invoiceId, repeats }: Keyed,
    exists: boolean,
  ): Promise<ImportedInvoice> {
    const input = invoicing.completed(read.input);
    const made = {
      ...{ tenantId, environment, importId: imported.id, round: imported.round, nth: read.nth },
      ...{ sheet: read.sheet, firstRow: read.firstRow, lastRow: read.lastRow, label: read.label, key, digest },
      ...{ input: JSON.stringify(input), ...shownOf(input), warnings: [], outcome: null },
    };
    if (repeats !== null) return { ...made, verdict: 'faulty', problems: [repeated(read, repeats)], invoiceId: null };
    if (exists && read.problems.length === 0) {
      const isSame = await invoicing.wasIssuedOf(invoiceId, digest);
      if (isSame) return { ...made, verdict: 'known', problems: [], invoiceId };
      return { ...made, verdict: 'faulty', problems: [issuedOtherwise(read, invoiceId)], invoiceId };
    }
    const checked = await invoicing.check(by, input);
    const problems = problemsOfRows(read, checked.problems);
    return {
      ...made,
      verdict: problems.length === 0 ? 'ready' : 'faulty',
      problems,
      // What the seller's profile lacks is the same for all invoices.
      warnings: checked.warnings
        .filter(({ path }) => !path.startsWith('seller.'))
        .slice(0, KEPT_WARNINGS)
        .map(({ code, path, message }) => ({ code, path, message })),
      invoiceId: null,
    };
  }

  return {
    async check(batch) {
      const all = batch.map(keyed);
      const existing = await invoicing.existing(all.map(({ invoiceId }) => invoiceId));
      const checked: ImportedInvoice[] = [];
      for (let at = 0; at < all.length; at += AT_ONCE) {
        const some = all.slice(at, at + AT_ONCE);
        const verdicts = () => Promise.all(some.map((each) => verdictOf(each, existing.has(each.invoiceId))));
        checked.push(...(await withRest(verdicts)));
      }
      for (const { verdict } of checked)
        counts = { ...counts, invoices: counts.invoices + 1, [verdict]: counts[verdict] + 1 };
      return checked;
    },
    counts: () => counts,
  };
}

function numberOf({ number }: ReadInvoice['input']): string | null {
  return typeof number === 'string' && number !== '' ? number : null;
}

/** What the list of a file's invoices shows of an input. */
function shownOf(
  input: Readonly<Record<string, unknown>>,
): Pick<ImportedInvoice, 'number' | 'customerName' | 'amount'> {
  const { amount, customer } = input;
  const name = (customer as { readonly name?: unknown } | null | undefined)?.name;
  return {
    number: numberOf(input),
    customerName: typeof name === 'string' ? name : null,
    amount: typeof amount === 'number' ? amount : null,
  };
}

function repeated(read: ReadInvoice, row: number): RowProblem {
  return ofNumber(read, 'number_repeated', { row });
}

function issuedOtherwise(read: ReadInvoice, invoiceId: string): RowProblem {
  return ofNumber(read, 'number_issued_otherwise', { invoice: invoiceId });
}

function ofNumber(read: ReadInvoice, code: string, facts: RowProblem['facts']): RowProblem {
  const { header, value, ...place } = cellOf(read, 'number');
  const named = { number: numberOf(read.input) ?? '', ...facts };
  return { place, header, value, code, param: 'number', facts: named };
}
