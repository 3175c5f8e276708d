import type { InvoiceStatus } from '../invoice/lifecycle.ts';
import type { Import, ImportWarning, Verdict } from './import.ts';
import type { RowProblem } from './reading.ts';

/** Returns texts about a file in its language. */
export interface ImportTexts {
  /** Why the file cannot be read, or why its import waits; null if nothing is wrong. */
  failure(imported: Import): string | null;
  problem(imported: Import, problem: RowProblem): string;
  /** What somebody should look at; in English if it is a warning about an invoice. */
  warning(imported: Import, warning: ImportWarning): string;
  /** The letters by which programs call a column: `A`, `AB`. @param index from 0 */
  column(index: number): string;
  /** What has become of an invoice of the file. @param status of the issued invoice; null if there is none */
  verdict(imported: Import, verdict: Verdict, status: InvoiceStatus | null): string;
}
