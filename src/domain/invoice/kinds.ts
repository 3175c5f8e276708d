import { isId } from '../ids.ts';

interface KindRow {
  /** The name in messages, and its indefinite article. */
  readonly called: string;
  readonly article: 'a' | 'an';
  /** The prefix of ids. */
  readonly idPrefix: string;
  /** The text before the year in the name of a series of numbers: `AV-2026-000123`. */
  readonly seriesPrefix: string;
  /** The first word of the names of its files: `avoir-AV-2026-000123.pdf`. */
  readonly fileName: string;
  /** The root element of UBL 2.1, from which the names of its lines and of its type follow. */
  readonly ublRoot: string;
  /** The document type (UNCL1001). */
  readonly ublType: string;
  /** The prefix of the line's quantity element in UBL 2.1. */
  readonly ublQuantity: string;
  /** The beginning of the closing sentence of UBL documents, which states the amount in French words. */
  readonly closing: string;
}

/**
 * The kinds of fiscal documents. All kinds are the same record and pass through the same stages; what differs is in
 * this table.
 */
export const KINDS = {
  invoice: {
    called: 'invoice',
    article: 'an',
    idPrefix: 'inv',
    seriesPrefix: '',
    fileName: 'facture',
    ublRoot: 'Invoice',
    ublType: '380',
    ublQuantity: 'Invoiced',
    closing: 'Arrêtée la présente facture à la somme de',
  },
  credit_note: {
    called: 'credit note',
    article: 'a',
    idPrefix: 'crn',
    seriesPrefix: 'AV-',
    fileName: 'avoir',
    ublRoot: 'CreditNote',
    ublType: '381',
    ublQuantity: 'Credited',
    closing: 'Arrêté le présent avoir à la somme de',
  },
} as const satisfies Readonly<Record<string, KindRow>>;

/** The document type (UNCL1001) of an invoice that asks for a deposit. */
const UBL_DEPOSIT = '386';

/** Returns the document type (UNCL1001). */
export function ublTypeOf(kind: Kind, isDeposit: boolean): string {
  return isDeposit ? UBL_DEPOSIT : KINDS[kind].ublType;
}

export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as Kind[];

const PREFIXES = Object.values(KINDS).map(({ seriesPrefix }) => seriesPrefix);

/**
 * The format of the service's own numbers: name of the series and serial. Clients may not use it, so their series never
 * overlap with those of the service.
 */
export const SERVICE_SERIES = new RegExp(`^((?:${PREFIXES.join('|')})\\d{4})-(\\d{6,})$`);

/** Returns the kind of the document with this id; null if the id has the prefix of no kind. */
export function kindOfId(id: string): Kind | null {
  return KIND_NAMES.find((kind) => id.startsWith(`${KINDS[kind].idPrefix}_`)) ?? null;
}

/** Returns what the document with this id is called in messages; an invoice if the id has the prefix of no kind. */
export function calledById(id: string): string {
  return KINDS[kindOfId(id) ?? 'invoice'].called;
}

/** Returns the kind of the UBL document with this root element; null if it is that of no kind. */
export function kindOfRoot(name: string): Kind | null {
  return KIND_NAMES.find((kind) => KINDS[kind].ublRoot === name) ?? null;
}

/** Whether a text has the format of the id of a document of this kind. Other texts are never looked up in the store. */
export function isIdOfKind(kind: Kind, text: string): boolean {
  return isId(KINDS[kind].idPrefix, text);
}

/** Whether a text has the format of the id of a document of any kind. */
export function isDocumentId(text: string): boolean {
  return KIND_NAMES.some((kind) => isIdOfKind(kind, text));
}
