import { createHash } from 'node:crypto';
import { cellText, type SheetRow } from './cell.ts';
import type { Layout } from './layout.ts';
import type { InvoiceRows } from './reading.ts';

/** Digests the rows of an invoice while they are read. */
export interface OpenRows {
  add(row: SheetRow): void;
  end(): InvoiceRows;
}

/** Separates cells, and rows, in a digest. No text of a cell contains it. */
const END = '\n';

/**
 * Digests the texts of rows with the positions of their columns, independent of the headers and of the order of the
 * rows. Volatile formulas and the columns that the service added are left out. So a returned file has the same digests
 * as the uploaded one, and a column may be renamed.
 */
export function openRows({ resultColumns, resultNumberColumn }: Layout): OpenRows {
  const digests: string[] = [];
  let resultNumber: string | null = null;
  return {
    add({ cells }) {
      const own = cells.filter((_, index) => !resultColumns.has(index));
      const shown = own.flatMap((cell, place) => {
        const text = cell?.kind === 'volatile' ? '' : cellText(cell);
        return text === '' ? [] : [`${place} ${text}${END}`];
      });
      digests.push(digestOf(shown.join('')));
      if (resultNumberColumn !== null) resultNumber ??= cellText(cells[resultNumberColumn] ?? null) || null;
    },
    end: () => ({ raw: digestOf(digests.toSorted().join(END)), resultNumber }),
  };
}

/** @returns hexadecimal */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
