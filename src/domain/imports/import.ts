import type { DocumentLanguage } from '../document-language.ts';
import type { InvoiceWarning } from '../invoice/invoice-warnings.ts';
import type { Actor } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { ColumnMapping, FileReading, RowProblem } from './reading.ts';

/** The statuses of an import. */
export const IMPORT_STATUSES = {
  reading: 'The file is read, and each of its invoices is checked. Nothing is issued yet.',
  unreadable: 'The file as a whole cannot be read: `failure` says why.',
  checked: 'Each invoice has a verdict. Nothing is issued before `startImport`.',
  issuing: 'The invoices that were `ready` are being issued.',
  done: 'Every invoice that was `ready` is issued or refused.',
} as const;
export type ImportStatus = keyof typeof IMPORT_STATUSES;

/** The verdicts on an invoice of a file. */
export const VERDICTS = {
  ready: 'It can be issued.',
  faulty: 'It has problems, and is not issued.',
  known: 'An import has issued it before: `invoice` is that invoice, and nothing is issued again.',
  issued: 'This import has issued it.',
  refused: 'It was ready, but could not be issued any more: `problems` says why.',
} as const;
export type Verdict = keyof typeof VERDICTS;
export const VERDICT_NAMES = Object.keys(VERDICTS) as Verdict[];

/** Number of an import's invoices: by verdict, and how many issued ones are accepted and rejected so far. */
export interface ImportCounts extends Readonly<Record<Verdict, number>> {
  readonly invoices: number;
  readonly accepted: number;
  readonly rejected: number;
}

export const NO_COUNTS: ImportCounts = {
  invoices: 0,
  ready: 0,
  faulty: 0,
  known: 0,
  issued: 0,
  refused: 0,
  accepted: 0,
  rejected: 0,
};

/** Why a file cannot be read, or why an import waits. */
export interface ImportFailure {
  /** A code of `FILE_FAULTS`, or an error code of the API. */
  readonly code: string;
  /** The values that the text of the code mentions. */
  readonly facts: Readonly<Record<string, string | number>>;
}

/** A file of invoices, from its upload on. */
export interface Import extends Owner {
  /** `imp_…` */
  readonly id: string;
  /** Order key: imports are listed by it. */
  readonly order: string;
  readonly createdAt: Date;
  readonly createdBy: Actor;
  /** The file as it was uploaded; its size in bytes, its digest in hex. */
  readonly file: { readonly name: string; readonly size: number; readonly sha256: string };
  /** The language of messages if the headers do not show one. */
  readonly language: DocumentLanguage;
  /** The columns as a person chose them. Null: as recognized by their headers, or as saved by the tenant. */
  readonly mapping: ColumnMapping | null;
  readonly status: ImportStatus;
  /** Number of times that the file was read, with other columns each time, from 1. Verdicts belong to one round. */
  readonly round: number;
  /** How the file was read; null before that. */
  readonly reading: FileReading | null;
  readonly failure: ImportFailure | null;
  readonly counts: ImportCounts;
  /** When and by whom the issuing was started; null before that. */
  readonly startedAt: Date | null;
  readonly startedBy: Actor | null;
  /** Whether the import is final: the authority has decided about every issued invoice. */
  readonly isSettled: boolean;
  /** When the file and the verdicts are removed. The invoices remain. */
  readonly expiresAt: Date;
}

/** An accepted fault, or a reason to look at an invoice whose verdict is `known`. */
export interface ImportWarning {
  readonly code: InvoiceWarning['code'] | 'equal_sale' | 'similar_sale';
  /** Dotted path of the field. */
  readonly path: string;
  /** In English. */
  readonly message: string;
  /** The values in the texts of `equal_sale` and `similar_sale`: the `number` and the `date` of the earlier invoice. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** An invoice of a file, with its verdict. */
export interface ImportedInvoice extends Owner {
  readonly importId: string;
  readonly round: number;
  /** Place in the file, from 0. */
  readonly nth: number;
  readonly sheet: string | null;
  readonly firstRow: number;
  readonly lastRow: number;
  /** The invoice's name in the file; null if it has none. */
  readonly label: string | null;
  /** The text from which the id of the invoice is derived: the tenant's own number, or the digest of the content. */
  readonly key: string;
  /** Digest of the content as it was interpreted. */
  readonly digest: string;
  /** Digest of the texts of the cells, independent of their interpretation. */
  readonly raw: string;
  /** The place among the issued rows with the same texts that it would get, from 0. */
  readonly rawPlace: number;
  /** The input of `createInvoiceInput` as JSON, because members of metadata may have any name. */
  readonly input: string;
  /** For the list of invoices: readable parts of the input, and the total including tax in centimes. */
  readonly number: string | null;
  readonly customerName: string | null;
  readonly amount: number | null;
  readonly verdict: Verdict;
  readonly problems: readonly RowProblem[];
  readonly warnings: readonly ImportWarning[];
  /** The invoice that this import or an earlier one issued for it; null if there is none. */
  readonly invoiceId: string | null;
  /** The authority's decision about an issued invoice; null before the decision. */
  readonly outcome: 'accepted' | 'rejected' | null;
}

/** Maximum number of warnings that are stored for an invoice. */
export const KEPT_WARNINGS = 20;
