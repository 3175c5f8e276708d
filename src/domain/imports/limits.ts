/** Limits of a file that is imported (docs/decisions/0095). A file beyond one of them is refused as a whole. */
export const IMPORT_LIMITS = {
  /** Size of the file, bytes. */
  fileBytes: 20 * 1024 * 1024,
  /** Unpacked size of the parts of a workbook, bytes. */
  unpackedBytes: 200 * 1024 * 1024,
  /** Parts of a workbook. */
  parts: 2000,
  /** Rows with content. */
  rows: 100_000,
  /** Successive rows without content. */
  emptyRows: 100_000,
  /** Columns, up to the last one with content. */
  columns: 200,
  /** Rows before the header row. */
  rowsBeforeHeader: 50,
  /** Cells with content; in a CSV file also the empty ones. */
  cells: 2_000_000,
  invoices: 10_000,
  /**
   * Lines of one invoice that are read: one more than the maximum, so that the invoice's own rule reports the excess.
   */
  lines: 1001,
  /** Characters of a cell that are read. */
  cell: 1000,
  /** Characters of the file's name, which is only shown. */
  name: 255,
} as const;

/** Maximum reported number of: characters of a cell, ignored rows of a file, problems of an invoice. */
export const REPORTED = { value: 100, ignoredRows: 100, problems: 100 } as const;

/** How long an uploaded file and its verdicts are kept, days. The invoices remain. */
export const IMPORT_DAYS = 30;
