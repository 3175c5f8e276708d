import type { Member } from '../principal.ts';
import { type Import, type ImportCounts, type ImportedInvoice, KEPT_WARNINGS, NO_COUNTS } from './import.ts';
import type { VerdictChange } from './import-store.ts';
import { type ImportWorkNeeds, withRest } from './import-work.ts';
import type { IssuedAs } from './invoicing.ts';
import { cellOf } from './origins.ts';
import type { ReadInvoice, ShownCell } from './reading.ts';
import { problemsOfRows } from './row-problems.ts';
import { type Found, faulty, issuedFacts, known, numberOf, ofNumber, rejectedFacts, shownOf } from './verdict-parts.ts';

/** Invoices that are checked at the same time: their documents are written one after the other anyway. */
const AT_ONCE = 16;

/** Gives the invoices of one file their verdicts, in the order of the file. */
export interface InvoiceChecker {
  check(batch: readonly ReadInvoice[]): Promise<ImportedInvoice[]>;
  /** How many there were so far. */
  counts(): ImportCounts;
  /**
   * Returns what the rest of the file has changed: of invoices with the same number none can be issued, because they may be
   * parts of one.
   */
  end(): VerdictChange[];
}

/** The first invoice of a file with a number. */
interface FirstOfNumber {
  readonly nth: number;
  readonly row: number;
  readonly cell: ShownCell;
  isReady: boolean;
  /** The row of the next one; null if there is none. */
  repeatedIn: number | null;
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
  readonly byNumber: string | null;
  readonly byRaw: readonly string[];
  /** Those of `byRaw` that were not rejected, and as what they were issued; null: not yet. */
  readonly standing: readonly (readonly [id: string, issued: IssuedAs | null])[];
  /** Returns as what an invoice was issued; null if it was not. */
  readonly issuedAs: (invoiceId: string) => Promise<IssuedAs | null>;
}

export function createInvoiceChecker(
  { invoicing, issuedRows }: Pick<ImportWorkNeeds, 'invoicing' | 'issuedRows'>,
  imported: Import,
  by: Member,
): InvoiceChecker {
  const { tenantId, environment } = imported;
  const owner = { tenantId, environment };
  /** How often each content without a number has come, and each text of rows. */
  const [contents, raws] = [new Map<string, number>(), new Map<string, number>()];
  /** The first invoice of each number. */
  const numbers = new Map<string, FirstOfNumber>();
  let counts: ImportCounts = NO_COUNTS;

  /**
   * An invoice is known by the tenant's own number, or by its content and which of the equal ones of the file it is. So
   * the same file again has the same keys, and a corrected file others only where it was corrected: one that has cells
   * that cannot be read counts for no other.
   */
  function keyed(read: ReadInvoice): Keyed {
    const digest = invoicing.digestOf(read.input);
    const number = numberOf(read.input);
    const repeated = number === null ? undefined : numbers.get(number);
    if (repeated) repeated.repeatedIn ??= read.firstRow;
    else if (number !== null) numbers.set(number, firstOf(read));
    const repeats = repeated?.row ?? null;
    const isCounted = number === null && read.problems.length === 0;
    const occurrence = isCounted ? counted(contents, digest) + 1 : 0;
    const key = number === null ? `content ${digest} ${occurrence}` : `number ${number}`;
    return { read, digest, key, invoiceId: invoicing.idOf(owner, key), repeats, nthOfRaw: counted(raws, read.raw) };
  }

  /**
   * Returns the key by which an invoice without a number is issued now: of one that was rejected there is no invoice, so it
   * is issued anew under a further key. A number is taken for good.
   */
  async function presentOf(
    each: Keyed,
    { issuedAs }: Pick<Earlier, 'issuedAs'>,
  ): Promise<{ each: Keyed; issued: IssuedAs | null }> {
    let present = each;
    let issued = await issuedAs(each.invoiceId);
    for (let again = 1; issued?.isRejected && numberOf(each.read.input) === null; again++) {
      const key = `${each.key} again ${again}`;
      present = { ...each, key, invoiceId: invoicing.idOf(owner, key) };
      issued = await issuedAs(present.invoiceId);
    }
    return { each: present, issued };
  }

  async function verdictOf(first: Keyed, earlier: Earlier): Promise<ImportedInvoice> {
    const { each, issued } = await presentOf(first, earlier);
    const { read, digest, key } = each;
    const input = invoicing.completed(read.input);
    return {
      ...{ tenantId, environment, importId: imported.id, round: imported.round, nth: read.nth },
      ...{ sheet: read.sheet, firstRow: read.firstRow, lastRow: read.lastRow, label: read.label, key, digest },
      // Rejected ones keep their places among the issued rows with the same texts.
      ...{ raw: read.raw, rawPlace: first.nthOfRaw + earlier.byRaw.length - earlier.standing.length },
      ...{ input: JSON.stringify(input), ...shownOf(input), outcome: null },
      ...((await issuedBefore(each, issued, earlier)) ?? (await checked(read, input))),
    };
  }

  /** What is known of an invoice that was issued before; null if none was, or it cannot be read enough to tell. */
  async function issuedBefore(
    { read, digest, invoiceId, repeats, nthOfRaw }: Keyed,
    issued: IssuedAs | null,
    { byNumber, byRaw, standing, issuedAs }: Earlier,
  ): Promise<Found | null> {
    const returned = byNumber === null ? null : await issuedAs(byNumber);
    if (byNumber !== null && !returned?.isRejected) {
      // A number of another company or environment may be that of any invoice here.
      if (returned?.digest === digest || byRaw.includes(byNumber)) return known(byNumber);
      return faulty(ofNumber(read, 'number_issued_otherwise', issuedFacts(byNumber, returned)), byNumber);
    }
    if (repeats !== null) return faulty(ofNumber(read, 'number_repeated', { row: repeats }));
    if (read.problems.length > 0) return null;
    if (issued?.isRejected) return faulty(ofNumber(read, 'duplicate_number', rejectedFacts(issued)), invoiceId);
    if (issued && (byRaw.includes(invoiceId) || (issued.digest === digest && numberOf(read.input) !== null)))
      return known(invoiceId);
    if (issued?.digest === digest) return known(invoiceId, issued);
    if (issued) return faulty(ofNumber(read, 'number_issued_otherwise', issuedFacts(invoiceId, issued)), invoiceId);
    return issuedOfRow(read, digest, standing[nthOfRaw]);
  }

  /** What is known of rows with the same texts. More of them than were issued are further sales. */
  function issuedOfRow(
    read: ReadInvoice,
    digest: string,
    earlier: Earlier['standing'][number] | undefined,
  ): Found | null {
    if (earlier === undefined) return null;
    const [same, former] = earlier;
    // Another row before it was corrected to the same content, and counts as the first of both.
    if (former?.digest === digest) return known(same);
    const problem = ofNumber(read, 'row_issued_otherwise', issuedFacts(same, former));
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

  /** Reads what all invoices of a batch have become before, in two round trips, and the exceptions one by one. */
  async function earlierOf(all: readonly Keyed[]): Promise<(each: Keyed) => Promise<Earlier>> {
    const byRaw = await issuedRows.of(
      owner,
      all.map(({ read }) => read.raw),
    );
    const asked = new Set(all.flatMap(({ invoiceId, read }) => [invoiceId, ...(byRaw.get(read.raw) ?? [])]));
    const issued = await invoicing.issuedAs([...asked]);
    const issuedAs = async (id: string) => (asked.has(id) ? issued : await invoicing.issuedAs([id])).get(id) ?? null;
    return async ({ read: { raw, resultNumber }, invoiceId }) => {
      const ofRaw = byRaw.get(raw) ?? [];
      const standing = ofRaw.map((id) => [id, issued.get(id) ?? null] as const);
      return {
        byNumber: await idOfNumber(resultNumber, invoiceId, issued),
        byRaw: ofRaw,
        standing: standing.filter(([, each]) => !each?.isRejected),
        issuedAs,
      };
    };
  }

  /** Finds the invoice whose number we have added to the file: mostly the one that is known by its key. */
  async function idOfNumber(
    number: string | null,
    invoiceId: string,
    issued: ReadonlyMap<string, IssuedAs>,
  ): Promise<string | null> {
    if (number === null) return null;
    return issued.get(invoiceId)?.number === number ? invoiceId : invoicing.findByNumber(owner, number);
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
      for (const { verdict, number, nth } of found) {
        counts = { ...counts, invoices: counts.invoices + 1, [verdict]: counts[verdict] + 1 };
        const first = number === null ? undefined : numbers.get(number);
        if (first?.nth === nth) first.isReady = verdict === 'ready';
      }
      return found;
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

/** Counts a text. @returns how often it was counted before */
function counted(of: Map<string, number>, text: string): number {
  const before = of.get(text) ?? 0;
  of.set(text, before + 1);
  return before;
}
