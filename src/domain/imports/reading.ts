import type { DocumentLanguage } from '../document-language.ts';
import type { FileFault, RowFault } from './row-rules.ts';

// What is read of a spreadsheet: how the file was understood, and the invoices of its rows with their problems.

/** A place in a file. */
export interface CellPlace {
  /** Null in a CSV file. */
  readonly sheet: string | null;
  /** From 1, as spreadsheet programs count. In a CSV file, empty lines and lines within quotes count. */
  readonly row: number;
  /** From 0; null: the whole row. */
  readonly column: number | null;
}

/** A cell as it is shown to people. */
export interface ShownCell extends CellPlace {
  /** The text above the column; null of a whole row, or if it is empty. */
  readonly header: string | null;
  /** As written, shortened to `REPORTED.value` characters; null if the cell is empty. */
  readonly value: string | null;
}

/** What is wrong with a row. */
export interface RowProblem {
  readonly place: CellPlace;
  readonly header: string | null;
  readonly value: string | null;
  /** A code of `ROW_FAULTS`, or an error code of the API. */
  readonly code: RowFault | (string & {});
  /** Dotted path of the field of `CreateInvoiceInput` (`customer.ice`, `lines.0.quantity`); null if it concerns none. */
  readonly param: string | null;
  /** What the text of the code names, such as the accepted values. */
  readonly facts: Readonly<Record<string, string | number>>;
}

/** What the rows of an invoice are known by, however they are understood. */
export interface InvoiceRows {
  /**
   * Digest of what the rows show in all columns but the results: the same for the same rows, whatever is known of the
   * columns and however numbers and dates are read.
   */
  readonly raw: string;
  /** The number that the service has put into a returned file; null if there is none. */
  readonly resultNumber: string | null;
}

/** What stands in the rows of one invoice. */
export interface ReadInvoice extends InvoiceRows {
  /** Place in the file, from 0. */
  readonly nth: number;
  readonly sheet: string | null;
  readonly firstRow: number;
  readonly lastRow: number;
  /** The cell of `document`, else of `number`, for messages; null without either. */
  readonly label: string | null;
  /**
   * For `createInvoiceInput`. Cells with problems are left out, so it is complete only without problems. `amount` is
   * absent if the file does not state it.
   */
  readonly input: Readonly<Record<string, unknown>>;
  readonly problems: readonly RowProblem[];
  /**
   * Where each given value came from, by the dotted path of its field (`customer.ice`, `lines.0.quantity`). `lines.0`
   * and `customer` are there too: the rows or the first cell of what a problem of the whole concerns.
   */
  readonly origins: Readonly<Record<string, ShownCell>>;
}

/** Why a row with content belongs to no invoice. */
export type IgnoredReason = 'total' | 'hidden' | 'repeated_header' | 'note';

/** A column of a file. */
export interface ReadColumn {
  /** From 0. */
  readonly index: number;
  readonly header: string;
  /** The key of the column in a {@link ColumnMapping}. */
  readonly key: string;
  /** A field of the table of columns; null: not used. */
  readonly field: string | null;
  /** Fields of which it may be one, the likely one first, if somebody has to say which, or that it is none; else absent. */
  readonly mayBe?: readonly string[];
  /** Whether the service added the column to a returned file: it is not read, and replaced when the file is returned. */
  readonly isResult: boolean;
}

/** How a file was read. */
export interface FileReading {
  readonly format: 'xlsx' | 'csv';
  /** The name of the sheet, and of others that were not read. */
  readonly sheet: string | null;
  readonly otherSheets: readonly string[];
  /** Of a CSV file: `utf-8`, `utf-16le`, `utf-16be`, `windows-1252` or `windows-1256`. */
  readonly encoding: string | null;
  readonly separator: ';' | ',' | '\t' | '|' | null;
  /** Null if no number in a text has one. */
  readonly decimalSign: '.' | ',' | null;
  /** Null if no date is a text. */
  readonly dateOrder: 'dmy' | 'ymd' | 'mdy' | null;
  /** Of a workbook: the year from which it counts days. */
  readonly dateSystem: 1900 | 1904 | null;
  /** From 1. */
  readonly headerRow: number;
  readonly columns: readonly ReadColumn[];
  /** Required fields that no column is. If there are any, no invoice is read until a mapping names their columns. */
  readonly missing: readonly string[];
  /** Of the headers, else the one stated at the upload: the language of messages about the file. */
  readonly language: DocumentLanguage;
  /** The first `REPORTED.ignoredRows` rows that have content but belong to no invoice. */
  readonly ignoredRows: readonly { readonly row: number; readonly reason: IgnoredReason }[];
  /** Number of rows with content below the header row. */
  readonly rows: number;
  readonly invoices: number;
  /** Whether somebody has said that customers without an ICE are private persons; else absent. */
  readonly privateCustomers?: boolean;
}

/** Which column is which field; null: not used. The keys are those of `headerKeys`, and {@link PRIVATE_CUSTOMERS}. */
export type ColumnMapping = Readonly<Record<string, string | null>>;

/**
 * The key of a mapping that is no column: its field is `customer.kind`, if customers of whom the file says nothing else
 * are private persons. No header has a key with this sign.
 */
export const PRIVATE_CUSTOMERS = '=person';

/** The file as a whole cannot be read. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
  readonly code: FileFault;
  /** What the text of the code names. */
  readonly facts: Readonly<Record<string, string | number>>;

  constructor(code: FileFault, facts: Readonly<Record<string, string | number>> = {}) {
    super(`the file cannot be read: ${code}`);
    this.code = code;
    this.facts = facts;
  }
}

export interface ReadOptions {
  /** The name under which the file was uploaded. */
  readonly name: string;
  /** The language of messages, if the file does not tell. */
  readonly language: DocumentLanguage;
  /** The columns as the tenant chose them; null: recognized by their headers. A column that it lacks is recognized. */
  readonly mapping: ColumnMapping | null;
  readonly signal?: AbortSignal;
}

/** A file that was examined, and is read while its batches are asked for. */
export interface OpenSpreadsheet {
  readonly reading: FileReading;
  /** The rows of all its invoices, in their order. */
  readonly rows: readonly InvoiceRows[];
  /**
   * The invoices, in the order of the rows. The next batch is read when it is asked for, so that memory does not grow
   * with the file. To be iterated once, or returned from: its end frees the thread.
   */
  readonly batches: AsyncIterableIterator<readonly ReadInvoice[]>;
}

export interface SpreadsheetReader {
  /**
   * Examines a whole file, and then reads its invoices. Nothing of a file is read if it is refused.
   * @param file path of a file that stays unchanged meanwhile
   * @throws {UnreadableFile}
   * @throws the signal's reason
   */
  read(file: string, options: ReadOptions): Promise<OpenSpreadsheet>;
  /** Stops the threads. Files in progress fail. */
  close(): Promise<void>;
}
