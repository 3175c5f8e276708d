import type { InvoiceStatus } from '../invoice/lifecycle.ts';
import type { Import, ImportWarning, Verdict } from './import.ts';
import type { RowProblem } from './reading.ts';

/** Writes the texts about an import, in the language of its file. */
export interface ImportTexts {
  /** Why the file cannot be read, or why its import waits; null if there is no failure. */
  failure(imported: Import): string | null;
  problem(imported: Import, problem: RowProblem): string;
  /** The text of a warning. A warning about an invoice is in English. */
  warning(imported: Import, warning: ImportWarning): string;
  /** The letters that spreadsheet programs give a column: `A`, `AB`. @param index from 0 */
  column(index: number): string;
  /** The result of an invoice of the file. @param status the issued invoice's status; null if no invoice was issued */
  verdict(imported: Import, verdict: Verdict, status: InvoiceStatus | null): string;
}
