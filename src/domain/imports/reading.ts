import type { DocumentLanguage } from '../document-language.ts';
import type { FileFault, RowFault } from './row-rules.ts';

// The results of reading a spreadsheet: how the file was interpreted, and the invoices of its rows with their problems.

/** A place in a file. */
export interface CellPlace {
  /** Null in a CSV file. */
  readonly sheet: string | null;
  /** From 1, as spreadsheet programs count. In a CSV file, empty lines and lines within quotes count. */
  readonly row: number;
  /** From 0; null: the whole row. */
  readonly column: number | null;
}

/** A cell as people see it. */
export interface ShownCell extends CellPlace {
  /** The text above the column; null for a whole row, or if the header is empty. */
  readonly header: string | null;
  /** As written, shortened to `REPORTED.value` characters; null if the cell is empty. */
  readonly value: string | null;
}

/** A problem of a row. */
export interface RowProblem {
  readonly place: CellPlace;
  readonly header: string | null;
  readonly value: string | null;
  /** A code of `ROW_FAULTS`, or an error code of the API. */
  readonly code: RowFault | (string & {});
  /**
   * Dotted path of the field of `CreateInvoiceInput` (`customer.ice`, `lines.0.quantity`); null if it concerns none.
   */
  readonly param: string | null;
  /** The values that the text of the code mentions, such as the accepted values. */
  readonly facts: Readonly<Record<string, string | number>>;
}

/** What identifies the rows of an invoice, independent of their interpretation. */
export interface InvoiceRows {
  /**
   * Digest of the rows' texts in all columns except the results. The same rows have the same digest, independent of
   * recognized columns and of how numbers and dates are read.
   */
  readonly raw: string;
  /** The number that the service has written into a returned file; null if there is none. */
  readonly resultNumber: string | null;
}

/** The contents of the rows of one invoice. */
export interface ReadInvoice extends InvoiceRows {
  /** Place in the file, from 0. */
  readonly nth: number;
  readonly sheet: string | null;
  readonly firstRow: number;
  readonly lastRow: number;
  /** The cell of `document`, else of `number`, for messages; null without either. */
  readonly label: string | null;
  /**
   * The input of `createInvoiceInput`. Cells with problems are left out, so it is complete only without problems.
   * `amount` is absent if the file does not state it.
   */
  readonly input: Readonly<Record<string, unknown>>;
  readonly problems: readonly RowProblem[];
  /**
   * The cell of each given value, by the dotted path of its field (`customer.ice`, `lines.0.quantity`). It also has
   * `lines.0` (the row) and `customer` (its first cell), for problems of the whole.
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
  /** A field of the table of columns; null if the column is not used. */
  readonly field: string | null;
  /**
   * The possible fields of an ambiguous column, the most likely first, until a person chooses one or none; else absent.
   */
  readonly mayBe?: readonly string[];
  /** Whether the service added the column to a returned file. It is not read, and is replaced at the next return. */
  readonly isResult: boolean;
}

/** How a file was read. */
export interface FileReading {
  readonly format: 'xlsx' | 'csv';
  /** The name of the sheet, and the names of the sheets that were not read. */
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
  /** Required fields without a column. If there are any, no invoice is read until a mapping names their columns. */
  readonly missing: readonly string[];
  /** The language of messages about the file: that of the headers, else the one stated at the upload. */
  readonly language: DocumentLanguage;
  /** The first `REPORTED.ignoredRows` rows that have content but belong to no invoice. */
  readonly ignoredRows: readonly { readonly row: number; readonly reason: IgnoredReason }[];
  /** Number of rows with content below the header row. */
  readonly rows: number;
  readonly invoices: number;
  /** Whether a person has stated that customers without an ICE are private persons; else absent. */
  readonly privateCustomers?: boolean;
}

/** The field of each column; null: not used. The keys are those of `headerKeys`, and {@link PRIVATE_CUSTOMERS}. */
export type ColumnMapping = Readonly<Record<string, string | null>>;

/**
 * A key of a mapping that is no column. If its field is `customer.kind`, customers of unknown kind are private persons.
 * The key of a header never contains this sign.
 */
export const PRIVATE_CUSTOMERS = '=person';

/** The file as a whole cannot be read. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
  readonly code: FileFault;
  /** The values that the text of the code mentions. */
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
  /** The language of messages if the headers do not show one. */
  readonly language: DocumentLanguage;
  /**
   * The columns as the tenant chose them. Columns that it lacks, or all if it is null, are recognized by their headers.
   */
  readonly mapping: ColumnMapping | null;
  readonly signal?: AbortSignal;
}

/** An examined file. A batch of its invoices is read when it is requested. */
export interface OpenSpreadsheet {
  readonly reading: FileReading;
  /** The rows of all its invoices, in their order. */
  readonly rows: readonly InvoiceRows[];
  /**
   * The invoices, in the order of the rows. The next batch is read when it is requested, so that memory does not grow
   * with the file. The caller must iterate to the end once, or call `return`, which frees the thread.
   */
  readonly batches: AsyncIterableIterator<readonly ReadInvoice[]>;
}

export interface SpreadsheetReader {
  /**
   * Examines a whole file, and then reads its invoices. A refused file has no invoices.
   * @param file path of a file that stays unchanged meanwhile
   * @throws {UnreadableFile}
   * @throws the signal's reason
   */
  read(file: string, options: ReadOptions): Promise<OpenSpreadsheet>;
  /** Stops the threads. Files in progress fail. */
  close(): Promise<void>;
}
