import type { Centimes } from '../../money.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Invoice } from '../invoice.ts';
import { legalNumber, type SeriesNumber } from '../series-number.ts';

/** The possible results for a number of the service's series. */
export const FATES = {
  accepted: 'The tax authority accepted the document.',
  partly_credited: 'It was accepted, and accepted credit notes credit a part of it.',
  credited: 'It was accepted, and accepted credit notes credit all of it.',
  rejected: 'It was rejected. No other document gets its number.',
  under_way: 'It is being processed.',
  assigning: 'The number was taken just now and is being written to its document.',
  lost: 'No document has it: it was passed over after older data was restored.',
  missing: 'No document has it, and nothing says why.',
} as const;

export type Fate = keyof typeof FATES;

/** A taken number, as it is stored. */
export interface TakenNumber {
  readonly serial: number;
  readonly invoiceId: string;
  /** The first of the serials that were passed over up to this one; null if the number belongs to a document. */
  readonly lostFrom: number | null;
}

/** The parts of a document that a ledger shows. */
export interface NumberedDocument
  extends Pick<Invoice, 'id' | 'kind' | 'status' | 'number' | 'amount' | 'currency' | 'createdAt'> {
  readonly customerName: string;
  readonly replacedById: string | null;
  /** The invoice that it replaces; null if it replaces none. */
  readonly replacesId: string | null;
  /** For a credit note: the invoice that it credits. */
  readonly original: { readonly id: string | null; readonly number: string } | null;
  /** The shares that credit notes took of it, whatever their present status. */
  readonly credits: readonly { readonly creditNoteId: string; readonly amount: Centimes }[];
}

/** Serials of a series. */
export interface SerialRange {
  /** Excluded; 0 for all from the first one. */
  readonly above: number;
  /** Included; null for all up to the last one. */
  readonly upTo: number | null;
}

export interface LostRange {
  /** The first and the last serial. */
  readonly from: number;
  readonly through: number;
}

/** The numbers of the service's series. Every method uses an index, and reads no more than it returns. */
export interface IssuedNumbers {
  /** Returns up to `limit` taken numbers of a series, the lowest first, or the highest first if `isBackwards`. */
  taken(
    owner: Owner,
    series: string,
    range: SerialRange,
    limit: number,
    isBackwards?: boolean,
  ): Promise<readonly TakenNumber[]>;
  /** Returns the ranges of a series that were passed over, in order. Reads one index entry for each. */
  lost(owner: Owner, series: string, range: SerialRange, limit: number): Promise<readonly LostRange[]>;
  /** Returns the documents with these ids, of any tenant, except withheld ones. Takes a round trip for each 500. */
  documents(ids: readonly string[]): Promise<ReadonlyMap<string, NumberedDocument>>;
}

/** A number of a ledger with its result, or consecutive numbers that belong to no document. */
export interface LedgerEntry {
  /** The last number, which is the cursor of pages. */
  readonly id: string;
  /** The first number. */
  readonly number: string;
  readonly fate: Fate;
  /** Null if the number belongs to no document. */
  readonly document: NumberedDocument | null;
  readonly replacedBy: NumberedDocument | null;
  /** The accepted credit notes, in the order in which they took their shares. */
  readonly creditedBy: readonly NumberedDocument[];
}

/** A taken number, or a gap of numbers, before its document is read. */
export type LedgerPlace =
  | { readonly id: string; readonly number: string; readonly gap: 'lost' | 'missing' }
  | { readonly id: string; readonly number: string; readonly invoiceId: string };

/**
 * Returns the places of a series in their order, with the gaps between them.
 * @param above the serial before the first of these numbers; 0 before the first of the series
 */
export function placesOf(series: string, above: number, taken: readonly TakenNumber[]): LedgerPlace[] {
  const numberOf = (serial: number) => legalNumber({ name: series, serial });
  let next = above + 1;
  return taken.flatMap(({ serial, invoiceId, lostFrom }) => {
    const from = next;
    const own = lostFrom ?? serial;
    next = serial + 1;
    const before: LedgerPlace[] = own > from ? [{ id: numberOf(own - 1), number: numberOf(from), gap: 'missing' }] : [];
    const id = numberOf(serial);
    if (lostFrom !== null) return [...before, { id, number: numberOf(Math.max(from, lostFrom)), gap: 'lost' as const }];
    return [...before, { id, number: id, invoiceId }];
  });
}

/** Returns the entry of a place. @param documents those of the places, and those that correct them */
export function entryOf(place: LedgerPlace, documents: ReadonlyMap<string, NumberedDocument>): LedgerEntry {
  const { id, number } = place;
  const nothing = { id, number, document: null, replacedBy: null, creditedBy: [] };
  if ('gap' in place) return { ...nothing, fate: place.gap };
  const document = documents.get(place.invoiceId);
  if (!document) return { ...nothing, fate: 'missing' };
  if (document.number !== number) return { ...nothing, fate: 'assigning' };
  const replacing = document.replacedById === null ? undefined : documents.get(document.replacedById);
  const accepted = document.credits.flatMap(({ creditNoteId, amount }) => {
    const note = documents.get(creditNoteId);
    return note?.original?.id === document.id && note.status === 'accepted' ? [{ note, amount }] : [];
  });
  const credited = accepted.reduce((sum, { amount }) => sum + amount, 0);
  return {
    id,
    number,
    document,
    fate: fateOf(document, credited),
    replacedBy: replacing?.replacesId === document.id ? replacing : null,
    creditedBy: accepted.map(({ note }) => note),
  };
}

function fateOf({ status, amount }: NumberedDocument, credited: Centimes): Fate {
  if (status === 'rejected') return 'rejected';
  if (status !== 'accepted') return 'under_way';
  if (credited === 0) return 'accepted';
  return credited >= amount ? 'credited' : 'partly_credited';
}

/** The serials of a series in a period, with a summary of them. */
export interface NumberRange {
  readonly series: SeriesNumber['name'];
  readonly kind: Invoice['kind'];
  /** Null if no number was taken. */
  readonly first: string | null;
  readonly last: string | null;
  /** Number of these numbers without the lost ones; null if there are more lost ranges than are listed. */
  readonly count: number | null;
  /** The first ranges recorded as lost. A missing document shows only when its number is read. */
  readonly lost: readonly { readonly number: string; readonly through: string }[];
}
