import { createHash } from 'node:crypto';
import { cellText, type SheetRow } from './cell.ts';
import type { Layout } from './layout.ts';
import type { InvoiceRows } from './reading.ts';

/** The rows of an invoice that are being read. */
export interface OpenRows {
  add(row: SheetRow): void;
  end(): InvoiceRows;
}

/** Separate cells, and rows. No text of a cell has them. */
const [AFTER_CELL, AFTER_ROW] = ['\n', '\n\n'];

/**
 * Digests the texts of rows, whatever the order and the headers of their columns. Empty cells, formulas whose value changes
 * by itself and the columns of results do not count, so that a returned file has the digests of the one that was uploaded,
 * and a column may be renamed.
 */
export function openRows({ resultColumns, resultNumberColumn }: Layout): OpenRows {
  const hash = createHash('sha256');
  let resultNumber: string | null = null;
  return {
    add({ cells }) {
      const shown = cells.flatMap((cell, index) => {
        const text = resultColumns.has(index) || cell?.kind === 'volatile' ? '' : cellText(cell);
        return text === '' ? [] : [`${text}${AFTER_CELL}`];
      });
      hash.update(shown.toSorted().join('') + AFTER_ROW);
      if (resultNumberColumn !== null) resultNumber ??= cellText(cells[resultNumberColumn] ?? null) || null;
    },
    end: () => ({ raw: hash.digest('hex'), resultNumber }),
  };
}
