import type { Centimes } from '../../money.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Invoice } from '../invoice.ts';
import { legalNumber, type SeriesNumber } from '../series-number.ts';

/** What may have become of a number of the service's series. */
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
  /** The first serial of those that were passed over up to this one; null for the number of a document. */
  readonly lostFrom: number | null;
}

/** What a ledger says of a document. */
export interface NumberedDocument
  extends Pick<Invoice, 'id' | 'kind' | 'status' | 'number' | 'amount' | 'currency' | 'createdAt'> {
  readonly customerName: string;
  readonly replacedById: string | null;
  /** The invoice that it replaces; null if it replaces none. */
  readonly replacesId: string | null;
  /** Of a credit note: the invoice that it credits. */
  readonly original: { readonly id: string | null; readonly number: string } | null;
  /** The shares that credit notes took of it, whatever became of them since. */
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
  /** Up to `limit` taken numbers of a series, the lowest first, or the highest first if `isBackwards`. */
  taken(
    owner: Owner,
    series: string,
    range: SerialRange,
    limit: number,
    isBackwards?: boolean,
  ): Promise<readonly TakenNumber[]>;
  /** The ranges of a series that were passed over, in order. Takes one index entry for each. */
  lost(owner: Owner, series: string, range: SerialRange, limit: number): Promise<readonly LostRange[]>;
  /** The documents with these ids, of any tenant, unless they are withheld. Takes a round trip for each 500. */
  documents(ids: readonly string[]): Promise<ReadonlyMap<string, NumberedDocument>>;
}

/** A number of a ledger with what became of it, or several that follow each other and that no document has. */
export interface LedgerEntry {
  /** The last number, by which pages continue. */
  readonly id: string;
  /** The first number. */
  readonly number: string;
  readonly fate: Fate;
  /** Null if no document has it. */
  readonly document: NumberedDocument | null;
  readonly replacedBy: NumberedDocument | null;
  /** The accepted credit notes, in the order in which they took their shares. */
  readonly creditedBy: readonly NumberedDocument[];
}

/** A taken number, or numbers that nobody took, before it is known what became of the document. */
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

/** What became of each place. @param documents those of the places, and those that correct them */
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

/** The serials of a series in a period, and what is to be said of them as a whole. */
export interface NumberRange {
  readonly series: SeriesNumber['name'];
  readonly kind: Invoice['kind'];
  /** Null if none was taken. */
  readonly first: string | null;
  readonly last: string | null;
  /** How many numbers that is, without those that are noted as lost; null if more ranges of them are than are listed. */
  readonly count: number | null;
  /** The first ranges that are noted as lost. Whether a document is missing is seen only where its number is read. */
  readonly lost: readonly { readonly number: string; readonly through: string }[];
}
