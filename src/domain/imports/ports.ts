import type { DocumentLanguage } from '../document-language.ts';
import type { FileReading } from './reading.ts';

/** The result of an invoice, for one of its rows. */
export interface RowVerdict {
  /** From 1, as in the file. */
  readonly row: number;
  /** In the first row of an invoice: its number, status, DGI id and the address of its PDF, each if it exists. */
  readonly number: string | null;
  readonly status: string | null;
  readonly dgiId: string | null;
  readonly pdfUrl: string | null;
  /**
   * Why the invoice was not issued or not accepted. The first row has the reasons of the whole invoice, each row its
   * own.
   */
  readonly reason: string | null;
}

/** Writes an uploaded file again, with its verdicts. */
export interface ResultWriter {
  /**
   * Writes the file unchanged, with the columns of the verdicts: after the last used column, or in place of those of an
   * earlier return. A spreadsheet runs none of their cells as a formula. Memory does not grow with the file.
   * @param file path of a file that stays unchanged meanwhile
   * @param reading how the file was read
   * @param verdicts in the order of the rows; rows without one get empty cells
   */
  write(file: string, reading: FileReading, verdicts: AsyncIterable<RowVerdict>): AsyncIterable<Uint8Array>;
}

/** Writes an empty workbook that people fill in. */
export interface WorkbookTemplates {
  write(language: DocumentLanguage): AsyncIterable<Uint8Array>;
}
