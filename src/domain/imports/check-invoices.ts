import type { Member } from '../principal.ts';
import { type Import, type ImportCounts, type ImportedInvoice, KEPT_WARNINGS, NO_COUNTS } from './import.ts';
import type { IssuedRows, VerdictChange } from './import-store.ts';
import { type ImportWorkNeeds, withRest } from './import-work.ts';
import { contentKey, keyAgain, numberKey } from './invoice-keys.ts';
import type { IssuedAs } from './invoicing.ts';
import type { EarlierOfRows, IssuedOfFile, Standing } from './issued-of-file.ts';
import { cellOf } from './origins.ts';
import type { ReadInvoice, ShownCell } from './reading.ts';
import { problemsOfRows } from './row-problems.ts';
import { withSimilarSales } from './similar-sales.ts';
import { type Found, faulty, issuedFacts, known, numberOf, ofNumber, rejectedFacts, shownOf } from './verdict-parts.ts';

/**
 * Number of invoices that are checked at the same time. Their documents are written one after the other in any case.
 */
const AT_ONCE = 16;

/** Gives the invoices of one file their verdicts, in the order of the file. */
export interface InvoiceChecker {
  check(batch: readonly ReadInvoice[]): Promise<ImportedInvoice[]>;
  /** Counts the invoices checked so far. */
  counts(): ImportCounts;
  /**
   * Returns the verdicts that the rest of the file has changed: if several invoices have the same number, none of them
   * can be issued, because they may be parts of one invoice.
   */
  end(): VerdictChange[];
}

/** The first invoice of the file that has a certain number. */
interface FirstOfNumber {
  readonly nth: number;
  readonly row: number;
  readonly cell: ShownCell;
  isReady: boolean;
  /** The first row of the next invoice with this number; null if there is none. */
  repeatedIn: number | null;
}

/** An invoice of the file with its key. */
interface Keyed {
  readonly read: ReadInvoice;
  readonly digest: string;
  readonly key: string;
  readonly invoiceId: string;
  /** Whether an invoice with this key may have been issued. */
  readonly mayExist: boolean;
  /** Number, date and content with which the invoice of this key was issued; null if it was not. */
  readonly issued: IssuedAs | null;
  /** The first row of an earlier invoice of the file with the same number; null if there is none. */
  readonly repeats: number | null;
  readonly earlier: EarlierOfRows;
}

type FirstKey = Omit<Keyed, 'issued'>;
type ReadIssued = (invoiceId: string) => Promise<IssuedAs | null>;

/** @param issuedOfFile the invoices that were already issued for the rows of the file */
export function createInvoiceChecker(
  { invoicing, issuedRows }: Pick<ImportWorkNeeds, 'invoicing'> & { readonly issuedRows: Pick<IssuedRows, 'alike'> },
  imported: Import,
  by: Member,
  issuedOfFile: IssuedOfFile,
): InvoiceChecker {
  const { tenantId, environment } = imported;
  const owner = { tenantId, environment };
  /** How often each content without a number has occurred. */
  const contents = new Map<string, number>();
  /** The first invoice of each number. */
  const numbers = new Map<string, FirstOfNumber>();
  let counts: ImportCounts = NO_COUNTS;

  /**
   * Returns the first key of an invoice: the tenant's own number, else the content and its position among the invoices
   * of the file with equal content. So the same file has the same keys again, and a corrected file differs only where
   * it was corrected. Two kinds of invoices are not counted among the equal ones: those with cells that cannot be read,
   * and those whose own rows were issued before.
   */
  function firstKey(read: ReadInvoice): FirstKey {
    const digest = invoicing.digestOf(read.input);
    const earlier = issuedOfFile.of(read.nth);
    const number = numberOf(read.input);
    const repeated = number === null ? undefined : numbers.get(number);
    if (repeated) repeated.repeatedIn ??= read.firstRow;
    else if (number !== null) numbers.set(number, firstOf(read));
    const isCounted = number === null && read.problems.length === 0 && !earlier.own?.issued;
    const key = isCounted ? nextOf(digest) : number === null ? contentKey(digest, 0) : numberKey(number);
    const mayExist = isCounted || number !== null;
    const invoiceId = invoicing.idOf(owner, key);
    return { read, digest, key, invoiceId, mayExist, repeats: repeated?.row ?? null, earlier };
  }

  /** Returns the next key of a content whose invoice was not issued for other rows of the file. */
  function nextOf(digest: string): string {
    for (;;) {
      const nth = (contents.get(digest) ?? 0) + 1;
      contents.set(digest, nth);
      const key = contentKey(digest, nth);
      if (!issuedOfFile.isTaken(invoicing.idOf(owner, key))) return key;
    }
  }

  /**
   * Returns the key under which the invoice is issued now. A rejected invoice without a number is issued again under a
   * further key. A number is never used again.
   */
  async function presentKey(first: FirstKey, issuedAs: ReadIssued): Promise<Keyed> {
    const under = async (key: string) => {
      const invoiceId = invoicing.idOf(owner, key);
      return { ...first, key, invoiceId, issued: first.mayExist ? await issuedAs(invoiceId) : null };
    };
    let present = await under(first.key);
    if (numberOf(first.read.input) !== null || !first.mayExist) return present;
    for (let again = 1; present.issued?.isRejected; again++) present = await under(keyAgain(first.key, again));
    if (!issuedOfFile.isTaken(present.invoiceId)) return present;
    return presentKey({ ...first, key: nextOf(first.digest) }, issuedAs);
  }

  async function verdictOf(each: Keyed): Promise<ImportedInvoice> {
    const { read, digest, key, earlier } = each;
    const input = invoicing.completed(read.input);
    return {
      tenantId,
      environment,
      importId: imported.id,
      round: imported.round,
      nth: read.nth,
      sheet: read.sheet,
      firstRow: read.firstRow,
      lastRow: read.lastRow,
      label: read.label,
      key,
      digest,
      raw: read.raw,
      rawPlace: earlier.place,
      input: JSON.stringify(input),
      ...shownOf(input),
      outcome: null,
      ...(issuedBefore(each) ?? (await checked(read, input))),
    };
  }

  /**
   * Returns the verdict of an invoice that was issued before; null if none was, or if faults prevent the comparison.
   */
  function issuedBefore({ read, digest, invoiceId, issued, repeats, earlier }: Keyed): Found | null {
    const { byNumber, own, ofTexts } = earlier;
    if (byNumber !== null && !byNumber.issued?.isRejected) {
      // The number that the file came back with may be from another company or environment.
      if (byNumber.issued?.digest === digest || ofTexts.has(byNumber.invoiceId)) return known(byNumber.invoiceId);
      const facts = issuedFacts(byNumber.invoiceId, byNumber.issued);
      return faulty(ofNumber(read, 'number_issued_otherwise', facts), byNumber.invoiceId);
    }
    if (repeats !== null) return faulty(ofNumber(read, 'number_repeated', { row: repeats }));
    // The rows had no faults when they were issued, so they are now read differently.
    if (read.problems.length > 0) return own?.issued ? ofOwnRows(read, digest, invoiceId, own) : null;
    if (issued && numberOf(read.input) !== null) return ofOwnNumber(read, digest, invoiceId, issued, ofTexts);
    if (own !== null) return ofOwnRows(read, digest, invoiceId, own);
    // It was issued for another row, or for this row before an ignored column was changed.
    return issued ? known(invoiceId, issued) : null;
  }

  function ofOwnNumber(
    read: ReadInvoice,
    digest: string,
    invoiceId: string,
    issued: IssuedAs,
    ofTexts: EarlierOfRows['ofTexts'],
  ): Found {
    if (issued.isRejected) return faulty(ofNumber(read, 'duplicate_number', rejectedFacts(issued)), invoiceId);
    if (ofTexts.has(invoiceId) || issued.digest === digest) return known(invoiceId);
    return faulty(ofNumber(read, 'number_issued_otherwise', issuedFacts(invoiceId, issued)), invoiceId);
  }

  /** @param invoiceId the invoice that would be issued */
  function ofOwnRows(read: ReadInvoice, digest: string, invoiceId: string, own: Standing): Found | null {
    if (own.issued?.digest === digest) return known(own.invoiceId);
    // An earlier import claimed this key but has not stored the invoice.
    if (own.issued === null && own.invoiceId === invoiceId) return null;
    const problem = ofNumber(read, 'row_issued_otherwise', issuedFacts(own.invoiceId, own.issued));
    return faulty({ ...problem, param: null }, own.invoiceId);
  }

  async function checked(read: ReadInvoice, input: Readonly<Record<string, unknown>>): Promise<Found> {
    const result = await invoicing.check(by, input);
    const problems = problemsOfRows(read, result.problems);
    return {
      verdict: problems.length === 0 ? 'ready' : 'faulty',
      problems,
      // Warnings about the seller's profile are the same for all invoices.
      warnings: result.warnings
        .filter(({ path }) => !path.startsWith('seller.'))
        .slice(0, KEPT_WARNINGS)
        .map(({ code, path, message }) => ({ code, path, message })),
      invoiceId: null,
    };
  }

  return {
    async check(batch) {
      const keys = batch.map(firstKey);
      const asked = new Set(keys.flatMap(({ invoiceId, mayExist }) => (mayExist ? [invoiceId] : [])));
      // One round trip for all issued invoices; one more for each rejected invoice.
      const issued = asked.size > 0 ? await invoicing.issuedAs([...asked]) : new Map<string, IssuedAs>();
      const issuedAs: ReadIssued = async (id) =>
        (asked.has(id) ? issued : await invoicing.issuedAs([id])).get(id) ?? null;
      const found: ImportedInvoice[] = [];
      for (let at = 0; at < keys.length; at += AT_ONCE) {
        const some: Keyed[] = [];
        for (const key of keys.slice(at, at + AT_ONCE)) some.push(await presentKey(key, issuedAs));
        found.push(...(await withRest(() => Promise.all(some.map(verdictOf)))));
      }
      const warned = await withSimilarSales({ invoicing, issuedRows }, owner, issuedOfFile, found);
      for (const { verdict, number, nth } of found) {
        counts = { ...counts, invoices: counts.invoices + 1, [verdict]: counts[verdict] + 1 };
        const first = number === null ? undefined : numbers.get(number);
        if (first?.nth === nth) first.isReady = verdict === 'ready';
      }
      return warned;
    },
    counts: () => counts,
    end() {
      const changes = [...numbers].flatMap(([number, { nth, isReady, repeatedIn, cell }]): VerdictChange[] => {
        if (!isReady || repeatedIn === null) return [];
        const { header, value, ...place } = cell;
        const facts = { number, row: repeatedIn };
        const problem = { place, header, value, code: 'number_repeated', param: 'number', facts };
        return [{ nth, verdict: 'faulty', problems: [problem] }];
      });
      counts = { ...counts, ready: counts.ready - changes.length, faulty: counts.faulty + changes.length };
      return changes;
    },
  };
}

function firstOf(read: ReadInvoice): FirstOfNumber {
  return { nth: read.nth, row: read.firstRow, cell: cellOf(read, 'number'), isReady: false, repeatedIn: null };
}
