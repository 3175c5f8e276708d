import type { Member } from '../principal.ts';
import { type Import, type ImportCounts, type ImportedInvoice, KEPT_WARNINGS, NO_COUNTS } from './import.ts';
import { type ImportWorkNeeds, withRest } from './import-work.ts';
import type { IssuedAs } from './invoicing.ts';
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
  /** Which one of the file's invoices with the same texts it is, from 0. */
  readonly nthOfRaw: number;
}

/** What an invoice of the file has become before: by a number that we have added, or of rows with the same texts. */
interface Earlier {
  readonly byKey: boolean;
  readonly byNumber: string | null;
  readonly byRaw: readonly string[];
}

type Found = Pick<ImportedInvoice, 'verdict' | 'problems' | 'warnings' | 'invoiceId'>;

export function createInvoiceChecker(
  { invoicing, issuedRows }: Pick<ImportWorkNeeds, 'invoicing' | 'issuedRows'>,
  imported: Import,
  by: Member,
): InvoiceChecker {
  const { tenantId, environment } = imported;
  const owner = { tenantId, environment };
  /** How often each content without a number has come, and each text of rows. */
  const [contents, raws] = [new Map<string, number>(), new Map<string, number>()];
  /** The first row of each number. */
  const numbers = new Map<string, number>();
  let counts: ImportCounts = NO_COUNTS;

  /**
   * An invoice is known by the tenant's own number, or by its content and which of the equal ones of the file it is. So
   * the same file again has the same keys, and a corrected file others only where it was corrected: one that has cells
   * that cannot be read counts for no other.
   */
  function keyed(read: ReadInvoice): Keyed {
    const digest = invoicing.digestOf(read.input);
    const number = numberOf(read.input);
    const repeats = number === null ? null : (numbers.get(number) ?? null);
    if (number !== null && repeats === null) numbers.set(number, read.firstRow);
    const isCounted = number === null && read.problems.length === 0;
    const occurrence = isCounted ? counted(contents, digest) + 1 : 0;
    const key = number === null ? `content ${digest} ${occurrence}` : `number ${number}`;
    return { read, digest, key, invoiceId: invoicing.idOf(owner, key), repeats, nthOfRaw: counted(raws, read.raw) };
  }

  /**
   * Returns the key by which an invoice without a number is issued now: of one that was rejected there is no invoice, so it
   * is issued anew under a further key. A number is taken for good.
   */
  async function presentOf(each: Keyed, byKey: boolean): Promise<{ each: Keyed; issued: IssuedAs | null }> {
    let present = each;
    let issued = byKey ? await invoicing.issuedAs(each.invoiceId) : null;
    for (let again = 1; issued?.isRejected && numberOf(each.read.input) === null; again++) {
      const key = `${each.key} again ${again}`;
      present = { ...each, key, invoiceId: invoicing.idOf(owner, key) };
      issued = await invoicing.issuedAs(present.invoiceId);
    }
    return { each: present, issued };
  }

  async function verdictOf(first: Keyed, earlier: Earlier): Promise<ImportedInvoice> {
    const { each, issued } = await presentOf(first, earlier.byKey);
    const { read, digest, key } = each;
    const input = invoicing.completed(read.input);
    return {
      ...{ tenantId, environment, importId: imported.id, round: imported.round, nth: read.nth },
      ...{ sheet: read.sheet, firstRow: read.firstRow, lastRow: read.lastRow, label: read.label, key, digest },
      ...{ raw: read.raw, input: JSON.stringify(input), ...shownOf(input), outcome: null },
      ...((await issuedBefore(each, issued, earlier)) ?? (await checked(read, input))),
    };
  }

  /** What is known of an invoice that was issued before; null if none was, or it cannot be read enough to tell. */
  async function issuedBefore(
    { read, digest, invoiceId, repeats, nthOfRaw }: Keyed,
    issued: IssuedAs | null,
    { byNumber, byRaw }: Earlier,
  ): Promise<Found | null> {
    const returned = byNumber === null ? null : await invoicing.issuedAs(byNumber);
    if (byNumber !== null && !returned?.isRejected) {
      if (returned === null || returned.digest === digest || byRaw.includes(byNumber)) return known(byNumber);
      return faulty(ofNumber(read, 'number_issued_otherwise', issuedFacts(byNumber, returned)), byNumber);
    }
    if (repeats !== null) return faulty(ofNumber(read, 'number_repeated', { row: repeats }));
    if (read.problems.length > 0) return null;
    if (issued?.isRejected) return faulty(ofNumber(read, 'duplicate_number', rejectedFacts(issued)), invoiceId);
    if (issued && (byRaw.includes(invoiceId) || (issued.digest === digest && numberOf(read.input) !== null)))
      return known(invoiceId);
    if (issued?.digest === digest) return known(invoiceId, issued);
    if (issued) return faulty(ofNumber(read, 'number_issued_otherwise', issuedFacts(invoiceId, issued)), invoiceId);
    return issuedOfRow(read, digest, byRaw, nthOfRaw);
  }

  /** What is known of rows with the same texts. More of them than were issued are further sales. */
  async function issuedOfRow(
    read: ReadInvoice,
    digest: string,
    byRaw: readonly string[],
    nthOfRaw: number,
  ): Promise<Found | null> {
    const standing: (readonly [id: string, issued: IssuedAs | null])[] = [];
    for (const id of byRaw) {
      const issued = await invoicing.issuedAs(id);
      if (!issued?.isRejected) standing.push([id, issued]);
    }
    const [same, former] = standing[nthOfRaw] ?? [];
    if (same === undefined) return null;
    // Another row before it was corrected to the same content, and counts as the first of both.
    if (former?.digest === digest) return known(same);
    const problem = ofNumber(read, 'row_issued_otherwise', issuedFacts(same, former ?? null));
    return faulty({ ...problem, param: null }, same);
  }

  async function checked(read: ReadInvoice, input: Readonly<Record<string, unknown>>): Promise<Found> {
    const result = await invoicing.check(by, input);
    const problems = problemsOfRows(read, result.problems);
    return {
      verdict: problems.length === 0 ? 'ready' : 'faulty',
      problems,
      // What the seller's profile lacks is the same for all invoices.
      warnings: result.warnings
        .filter(({ path }) => !path.startsWith('seller.'))
        .slice(0, KEPT_WARNINGS)
        .map(({ code, path, message }) => ({ code, path, message })),
      invoiceId: null,
    };
  }

  async function earlierOf(all: readonly Keyed[]): Promise<(each: Keyed) => Promise<Earlier>> {
    const existing = await invoicing.existing(all.map(({ invoiceId }) => invoiceId));
    const byRaw = await issuedRows.of(
      owner,
      all.map(({ read }) => read.raw),
    );
    return async ({ read: { raw, resultNumber }, invoiceId }) => ({
      byKey: existing.has(invoiceId),
      byNumber: resultNumber === null ? null : await invoicing.findByNumber(owner, resultNumber),
      byRaw: byRaw.get(raw) ?? [],
    });
  }

  return {
    async check(batch) {
      const all = batch.map(keyed);
      const earlier = await earlierOf(all);
      const found: ImportedInvoice[] = [];
      for (let at = 0; at < all.length; at += AT_ONCE) {
        const some = all.slice(at, at + AT_ONCE);
        const verdicts = () => Promise.all(some.map(async (each) => verdictOf(each, await earlier(each))));
        found.push(...(await withRest(verdicts)));
      }
      for (const { verdict } of found)
        counts = { ...counts, invoices: counts.invoices + 1, [verdict]: counts[verdict] + 1 };
      return found;
    },
    counts: () => counts,
  };
}

/** Counts a text. @returns how often it was counted before */
function counted(of: Map<string, number>, text: string): number {
  const before = of.get(text) ?? 0;
  of.set(text, before + 1);
  return before;
}

/** @param equal the invoice, if it is not known whether it was issued of this row or of an equal sale */
function known(invoiceId: string, equal?: IssuedAs): Found {
  const warnings = equal ? [equalSale(invoiceId, equal)] : [];
  return { verdict: 'known', problems: [], warnings, invoiceId };
}

function faulty(problem: RowProblem, invoiceId: string | null = null): Found {
  return { verdict: 'faulty', problems: [problem], warnings: [], invoiceId };
}

function equalSale(invoiceId: string, { number, date }: IssuedAs): ImportedInvoice['warnings'][number] {
  const called = number ?? invoiceId;
  const message = `An equal sale was issued as ${called} on ${date}. If this is another one, give it a number, or the number of its order.`;
  return { code: 'equal_sale', path: 'number', message, facts: { number: called, date } };
}

function issuedFacts(invoiceId: string, issued: IssuedAs | null): RowProblem['facts'] {
  return { invoice: issued?.number ?? invoiceId, ...(issued?.number && { number: issued.number }) };
}

function rejectedFacts({ number }: IssuedAs): RowProblem['facts'] {
  return { message: `number ${number} is taken by an invoice that was rejected. Use another one, or replace it.` };
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

function ofNumber(read: ReadInvoice, code: string, facts: RowProblem['facts']): RowProblem {
  const { header, value, ...place } = cellOf(read, 'number');
  const named = { number: numberOf(read.input) ?? '', ...facts };
  return { place, header, value, code, param: 'number', facts: named };
}
