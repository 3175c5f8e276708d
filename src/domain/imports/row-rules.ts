/**
 * Faults of a cell or a row that are found before the rules of invoices apply: the codes of {@link ROW_FAULTS}. Their
 * texts, with the remedy, are in `src/text/import-problems.ts`.
 */
export const ROW_FAULTS = [
  /** A cell that an invoice or a line needs is empty. */
  'cell_empty',
  /** Facts: `most`, in characters. */
  'cell_too_long',
  /** The cell shows an error of a formula: `#N/A`. */
  'cell_error',
  /** A formula that no program has computed, so that the file does not contain its value. */
  'formula_not_computed',
  /** A formula whose value changes by itself, so that the same row would be a different one tomorrow. */
  'formula_volatile',
  /** The spreadsheet turned a text into a date: `12/2026`. */
  'became_date',
  'not_a_number',
  /** A percentage where a quantity, a price or an amount is expected. */
  'percent_unexpected',
  /** A time or duration where another value is expected: `12:00` is half a day. */
  'is_time',
  /** The cell shows something else than its value: `FA-0007` for 7, or nothing. */
  'shown_otherwise',
  /** The cell has characters that could not be decoded. */
  'bad_characters',
  /** `1,234` may be 1.234 or 1234, and the file does not show which. */
  'ambiguous_number',
  /** `0.2` under percent may be 0.2 % or 20 %. */
  'ambiguous_percent',
  /** Facts: `most`. */
  'too_many_decimals',
  'number_too_large',
  /** A negative quantity, price or amount: credit notes are not imported. */
  'negative',
  'foreign_currency',
  'not_a_date',
  'ambiguous_date',
  /** A date in a column that also has texts: a program of another language may have exchanged its day and month. */
  'date_may_be_swapped',
  /** A number where a date is expected: the cell has lost its format. */
  'date_without_format',
  /** The program that wrote the file has shortened a long number: `1.234E+14`. */
  'digits_lost',
  /** An ICE that the spreadsheet stored as a number, and whose check key proves that digits are missing. */
  'ice_as_number',
  /** Facts: `accepted`. */
  'unknown_choice',
  'unknown_unit',
  'unknown_country',
  'unknown_rate',
  /** The program that wrote the file calls the document a credit note. */
  'credit_note',
  /** A quote, an order or a purchase. */
  'not_an_invoice',
  /** A draft, or a sale that is not confirmed or paid yet. */
  'not_final',
  /** Cancelled, failed or refunded. */
  'cancelled',
  /** An unknown word for the kind or state of the document. */
  'unknown_state',
  /** The rows of an invoice state different values. Facts: `first`, `firstRow`. */
  'differs',
  /** A column of the whole invoice is filled in a row that does not begin an invoice. */
  'document_missing',
  /** The file's first row continues an invoice whose first row is missing. */
  'no_beginning',
  /** The rows of one invoice are not adjacent. Facts: `otherRow`. */
  'rows_apart',
  /** A row of the invoice is hidden. */
  'hidden_row',
  /** A row that is called a total, but has the figures of a line. */
  'may_be_total',
  /** A quantity, a price or an amount in merged cells: its line is unknown. */
  'merged_amount',
  /** Two columns that exclude each other are filled. Facts: `other`. */
  'excludes',
  /** Another invoice of the file has the same number. Facts: `number`, `row`. */
  'number_repeated',
  /** An earlier import issued this number with other content. Facts: `number`, `invoice`. */
  'number_issued_otherwise',
  /** The same rows were issued, but were read differently then. Facts: `invoice`. */
  'row_issued_otherwise',
] as const;
export type RowFault = (typeof ROW_FAULTS)[number];

/** Why a file as a whole cannot be read. */
export const FILE_FAULTS = [
  'empty',
  /** Facts of codes that begin with `too_`: `most`. */
  'too_large',
  'too_much_unpacked',
  'too_many_parts',
  'too_many_rows',
  'too_many_empty_rows',
  'too_many_columns',
  'too_many_cells',
  'too_many_invoices',
  /** Neither a workbook nor a text. */
  'not_a_spreadsheet',
  /** The format of Excel before 2007, or its binary format. */
  'old_excel',
  'open_document',
  /** A web page or XML that is named like a spreadsheet. */
  'web_page',
  'encrypted',
  'macros',
  /** It refers to other files or sources of data. */
  'external_links',
  'damaged',
  /** Facts: `encoding`. */
  'bad_encoding',
  /** A quotation mark that is never closed. Facts: `row`. */
  'unclosed_quote',
  'no_sheet',
  'no_header',
  /** Reading took too long, or took more memory than a file may need. */
  'too_costly',
] as const;
export type FileFault = (typeof FILE_FAULTS)[number];
