import type { MergedCells, SheetRow } from './cell.ts';
import type { FileReading } from './reading.ts';

/** The rows of a sheet, or of a CSV file. */
export interface Table {
  readonly sheet: string | null;
  /**
   * Reads the rows from the first one on, in batches. Empty rows may be left out. Rows and columns beyond
   * `IMPORT_LIMITS` are refused.
   * @param onMerged receives the merged cells after the last row
   * @throws {UnreadableFile}
   */
  rows(onMerged?: (merged: readonly MergedCells[]) => void): AsyncIterable<readonly SheetRow[]>;
}

/** The form of a file, which is known before its rows are read. */
export type FileForm = Pick<FileReading, 'format' | 'encoding' | 'separator' | 'dateSystem'>;

/** An uploaded file, recognized as a workbook or a CSV file. */
export interface OpenFile {
  readonly form: FileForm;
  /** The visible sheets, in their order. */
  readonly tables: readonly Table[];
  close(): Promise<void>;
}
