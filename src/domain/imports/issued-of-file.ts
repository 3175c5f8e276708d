import type { Owner } from '../tenant/tenant.ts';
import type { RowPlace } from './import-store.ts';
import { type ImportWorkNeeds, withRest } from './import-work.ts';
import type { IssuedAs } from './invoicing.ts';
import type { InvoiceRows } from './reading.ts';

/** An invoice, and as what it was issued; null: it has its place, and is not stored yet. */
export interface Standing {
  readonly invoiceId: string;
  readonly issued: IssuedAs | null;
}

/** What the rows of one invoice of a file have become before. */
export interface EarlierOfRows {
  /** The ids of the invoices of all rows with these texts, of rejected ones, too. */
  readonly ofTexts: readonly string[];
  /** The invoice of these rows. Rejected ones do not stand, and no two invoices of a file have the same one. */
  readonly own: Standing | null;
  /** Their place among the rows with the same texts: that of `own`, or the next one that is free. */
  readonly place: number;
  /** The invoice whose number we have added to the file. */
  readonly byNumber: Standing | null;
}

/** The invoices that the rows of a file have become before. */
export interface IssuedOfFile {
  /** @param nth the place of the invoice in the file */
  of(nth: number): EarlierOfRows;
  /** Whether an invoice was issued of rows of this file, so that no other row is it. */
  isTaken(invoiceId: string): boolean;
}

/** Texts, and numbers, that are asked for together. */
const [TEXTS, NUMBERS] = [500, 16];

type Needs = Pick<ImportWorkNeeds, 'invoicing' | 'issuedRows'>;

/**
 * Finds what the rows of a whole file have become before, whatever their order: each invoice belongs to one of them. Takes
 * two round trips for each 500 texts, and some for each number that only the file knows.
 * @param rows of the invoices of the file, in their order
 */
export async function findIssued(needs: Needs, owner: Owner, rows: readonly InvoiceRows[]): Promise<IssuedOfFile> {
  const places = await placesOf(needs, owner, rows);
  const standing = new Map(
    [...places].map(([raw, all]) => [raw, all.filter(({ issued }) => !issued?.isRejected)] as const),
  );
  const nextPlace = new Map([...places].map(([raw, all]) => [raw, Math.max(...all.map(({ place }) => place)) + 1]));
  const own = new Map<number, PlacedInvoice>();
  const take = (nth: number, raw: string, at: number) => {
    const [taken] = at < 0 ? [] : (standing.get(raw)?.splice(at, 1) ?? []);
    if (taken) own.set(nth, taken);
  };
  // A row that came back with its number is that invoice, the others are those that remain, in order.
  for (const [nth, { raw, resultNumber }] of rows.entries())
    if (resultNumber !== null)
      take(nth, raw, standing.get(raw)?.findIndex(({ issued }) => issued?.number === resultNumber) ?? -1);
  for (const [nth, { raw }] of rows.entries()) if (!own.has(nth)) take(nth, raw, 0);

  const unknown = [...rows.entries()].flatMap(([nth, { resultNumber }]) =>
    resultNumber === null || own.get(nth)?.issued?.number === resultNumber ? [] : [resultNumber],
  );
  const numbers = await invoicesOf(needs, owner, unknown);
  const byPlace = rows.map(({ raw, resultNumber }, nth): EarlierOfRows => {
    const mine = own.get(nth) ?? null;
    const place = mine?.place ?? nextPlace.get(raw) ?? 0;
    if (!mine) nextPlace.set(raw, place + 1);
    const isNumbered = resultNumber !== null && mine?.issued?.number === resultNumber;
    const byNumber = isNumbered ? mine : (numbers.get(resultNumber ?? '') ?? null);
    return { ofTexts: places.get(raw)?.map(({ invoiceId }) => invoiceId) ?? [], own: mine, place, byNumber };
  });
  const taken = new Set(
    byPlace.flatMap(({ own, byNumber }) => [own, byNumber].flatMap((each) => (each?.issued ? [each.invoiceId] : []))),
  );
  return {
    of(nth) {
      const found = byPlace[nth];
      if (!found) throw new Error(`the file has no invoice ${nth}`);
      return found;
    },
    isTaken: (invoiceId) => taken.has(invoiceId),
  };
}

interface PlacedInvoice extends Standing {
  readonly place: number;
}

/** The invoices that were issued of rows with these texts, by their digest, in the order of their places. */
async function placesOf({ issuedRows, invoicing }: Needs, owner: Owner, rows: readonly InvoiceRows[]) {
  const found = new Map<string, readonly PlacedInvoice[]>();
  await inParts([...new Set(rows.map(({ raw }) => raw))], TEXTS, async (raws) => {
    const all = await issuedRows.of(owner, raws);
    const issued = await invoicing.issuedAs([...all.values()].flat().map(({ invoiceId }) => invoiceId));
    const placed = ({ place, invoiceId }: RowPlace) => ({ place, invoiceId, issued: issued.get(invoiceId) ?? null });
    for (const [raw, places] of all) found.set(raw, places.map(placed));
  });
  return found;
}

/** The invoices with these legal numbers, by number. */
async function invoicesOf({ invoicing }: Needs, owner: Owner, numbers: readonly string[]) {
  const found = new Map<string, Standing>();
  await inParts([...new Set(numbers)], NUMBERS, async (some) => {
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
  work: (some: readonly Item[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += size) await withRest(() => work(items.slice(at, at + size)));
}
