import type { Owner } from '../tenant/tenant.ts';
import { type ImportWorkNeeds, withRest } from './import-work.ts';
import type { IssuedAs } from './invoicing.ts';
import type { InvoiceRows } from './reading.ts';

/** An invoice, and how it was issued. Null: it has claimed its place, but is not stored yet. */
export interface Standing {
  readonly invoiceId: string;
  readonly issued: IssuedAs | null;
}

/** The invoices that were issued earlier for the rows of one invoice of a file. */
export interface EarlierOfRows {
  /** The ids of the invoices that were issued for rows with these texts. */
  readonly ofTexts: ReadonlySet<string>;
  /** The invoice that was issued for these rows. No two invoices of a file have the same one. */
  readonly own: Standing | null;
  /** Their place among the rows with the same texts: that of `own`, else a free one. */
  readonly place: number;
  /** The invoice whose number the service has added to the file. */
  readonly byNumber: Standing | null;
}

/** The invoices that were issued earlier for the rows of a file. */
export interface IssuedOfFile {
  /** @param nth the place of the invoice in the file */
  of(nth: number): EarlierOfRows;
  /** Whether this invoice was issued for rows of this file, so that it cannot belong to other rows. */
  isTaken(invoiceId: string): boolean;
}

/** Number of texts, and of numbers, per query. */
const [TEXTS, NUMBERS] = [500, 100];

type Needs = Pick<ImportWorkNeeds, 'invoicing' | 'issuedRows'>;

/**
 * Whether an invoice was issued for rows with these texts and was not rejected. False for an invoice of other rows
 * whose id a worker recorded here before it died.
 */
export function isOfRows(issued: IssuedAs, raw: string): boolean {
  return issued.raw === raw && !issued.isRejected;
}

/**
 * Finds the invoices that were issued earlier for the rows of a whole file, in any order. Assigns each invoice to one
 * row. Takes two round trips for each 500 texts, and some for each number that no stored row has.
 * @param rows of the invoices of the file, in their order
 * @throws the signal's reason
 */
export async function findIssued(
  needs: Needs,
  owner: Owner,
  rows: readonly InvoiceRows[],
  signal?: AbortSignal,
): Promise<IssuedOfFile> {
  const places = await placesOf(needs, owner, rows, signal);
  const own = new Map<number, PlacedInvoice>();
  // A returned row is the invoice whose number it states.
  for (const [nth, { raw, resultNumber }] of rows.entries()) {
    const numbered = resultNumber === null ? undefined : places.get(raw)?.takeNumber(resultNumber);
    if (numbered) own.set(nth, numbered);
  }
  const byNumber = await invoicesOf(
    needs,
    owner,
    rows.flatMap(({ resultNumber }, nth) => (resultNumber === null || own.has(nth) ? [] : [resultNumber])),
    signal,
  );
  const isAnother = (number: string | null) => {
    const found = number === null ? undefined : byNumber.get(number);
    return found?.issued != null && !found.issued.isRejected;
  };
  // The other invoices are assigned to the remaining rows in order, except to rows whose number is of another invoice.
  const added = new Map<string, number>();
  const placeOfNew = (raw: string) => {
    const place = added.get(raw) ?? 0;
    added.set(raw, place + 1);
    return place;
  };
  const found = rows.map(({ raw, resultNumber }, nth): EarlierOfRows => {
    const ofTexts = places.get(raw);
    const numbered = own.get(nth);
    const mine = numbered ?? (isAnother(resultNumber) ? null : ofTexts?.takeNext()) ?? null;
    return {
      ofTexts: ofTexts?.ids ?? NONE,
      own: mine,
      place: mine?.place ?? ofTexts?.freePlace() ?? placeOfNew(raw),
      byNumber: numbered ?? byNumber.get(resultNumber ?? '') ?? null,
    };
  });
  const taken = new Set(
    found.flatMap(({ own, byNumber }) => [own, byNumber].flatMap((each) => (each?.issued ? [each.invoiceId] : []))),
  );
  return {
    of(nth) {
      const earlier = found[nth];
      if (!earlier) throw new Error(`the file has no invoice ${nth}`);
      return earlier;
    },
    isTaken: (invoiceId) => taken.has(invoiceId),
  };
}

const NONE: ReadonlySet<string> = new Set();

interface PlacedInvoice extends Standing {
  readonly place: number;
}

/** The places of rows with the same texts. Each place is assigned once. */
interface Places {
  readonly ids: ReadonlySet<string>;
  takeNumber(number: string): PlacedInvoice | null;
  /** Takes the first place whose invoice is valid and not taken. */
  takeNext(): PlacedInvoice | null;
  /** Takes a place without a valid invoice. */
  freePlace(): number;
}

/** @param all in the order of their places */
function createPlaces(raw: string, all: readonly PlacedInvoice[]): Places {
  const stands = ({ issued }: Standing) => issued === null || isOfRows(issued, raw);
  const standing = all.filter(stands);
  const free = all.filter((each) => !stands(each)).map(({ place }) => place);
  const numbers = new Map(standing.flatMap((each) => (each.issued?.number ? [[each.issued.number, each]] : [])));
  const taken = new Set<PlacedInvoice>();
  let [next, nextFree, last] = [0, 0, all.at(-1)?.place ?? -1];
  return {
    ids: new Set(all.map(({ invoiceId }) => invoiceId)),
    takeNumber(number) {
      const found = numbers.get(number);
      if (!found || taken.has(found)) return null;
      taken.add(found);
      return found;
    },
    takeNext() {
      for (let each = standing[next++]; each; each = standing[next++]) {
        if (taken.has(each)) continue;
        taken.add(each);
        return each;
      }
      return null;
    },
    freePlace: () => free[nextFree++] ?? ++last,
  };
}

/** Reads the invoices that were issued for rows with these texts, by digest. */
async function placesOf(
  { issuedRows, invoicing }: Needs,
  owner: Owner,
  rows: readonly InvoiceRows[],
  signal: AbortSignal | undefined,
) {
  const found = new Map<string, Places>();
  await inParts([...new Set(rows.map(({ raw }) => raw))], TEXTS, signal, async (raws) => {
    const all = await issuedRows.of(owner, raws);
    const issued = new Map<string, IssuedAs>();
    const ids = [...all.values()].flat().map(({ invoiceId }) => invoiceId);
    for (const some of partsOf(ids, TEXTS)) for (const [id, as] of await invoicing.issuedAs(some)) issued.set(id, as);
    for (const [raw, places] of all) {
      const placed = places.map(({ place, invoiceId }) => ({
        place,
        invoiceId,
        issued: issued.get(invoiceId) ?? null,
      }));
      found.set(raw, createPlaces(raw, placed));
    }
  });
  return found;
}

/** Returns the invoices with these legal numbers, by number. */
async function invoicesOf(
  { invoicing }: Needs,
  owner: Owner,
  numbers: readonly string[],
  signal: AbortSignal | undefined,
) {
  const found = new Map<string, Standing>();
  await inParts([...new Set(numbers)], NUMBERS, signal, async (some) => {
    const ids = await Promise.all(some.map((number) => invoicing.findByNumber(owner, number)));
    const issued = await invoicing.issuedAs(ids.filter((id) => id !== null));
    for (const [index, invoiceId] of ids.entries())
      if (invoiceId !== null) found.set(some[index] as string, { invoiceId, issued: issued.get(invoiceId) ?? null });
  });
  return found;
}

async function inParts<Item>(
  items: readonly Item[],
  size: number,
  signal: AbortSignal | undefined,
  work: (some: readonly Item[]) => Promise<void>,
): Promise<void> {
  for (const some of partsOf(items, size)) {
    signal?.throwIfAborted();
    await withRest(() => work(some));
  }
}

function* partsOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
