import type { DocumentLanguage } from '../document-language.ts';
import type { FileReading } from './reading.ts';

/** What became of the rows of an invoice, in one of its rows. */
export interface RowVerdict {
  /** From 1, as in the file. */
  readonly row: number;
  /** In the first row of an invoice: its number, status, DGI id and the address of its PDF, as far as it has them. */
  readonly number: string | null;
  readonly status: string | null;
  readonly dgiId: string | null;
  readonly pdfUrl: string | null;
  /** Why it is not issued or not accepted: in the first row what concerns the invoice, in each what concerns the row. */
  readonly reason: string | null;
}

/** Returns an uploaded file with its verdicts. */
export interface ResultWriter {
  /**
   * Writes the file again, unchanged but for the columns of the verdicts: after the last used one, or in their place if
   * the file has them from an earlier return. Nothing in them is run by a spreadsheet. Memory does not grow with the
   * file.
   * @param file path of a file that stays unchanged meanwhile
   * @param reading how the file was read
   * @param verdicts in the order of the rows; rows without one get empty cells
   */
  write(file: string, reading: FileReading, verdicts: AsyncIterable<RowVerdict>): AsyncIterable<Uint8Array>;
}

/** Writes an empty workbook for filling in. */
export interface WorkbookTemplates {
  write(language: DocumentLanguage): AsyncIterable<Uint8Array>;
}
