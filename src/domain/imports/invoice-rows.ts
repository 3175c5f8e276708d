import { createHash } from 'node:crypto';
import { cellText, type SheetRow } from './cell.ts';
import type { Layout } from './layout.ts';
import type { InvoiceRows } from './reading.ts';

/** The rows of an invoice that are being read. */
export interface OpenRows {
  add(row: SheetRow): void;
  end(): InvoiceRows;
}

/** Separates cells, and rows, of a digest. No text of a cell has it. */
const END = '\n';

/**
 * Digests the texts of rows and the places of their columns, whatever the headers and the order of the rows. Formulas whose
 * value changes by itself and the columns of results do not count, so that a returned file has the digests of the one that
 * was uploaded, and a column may be renamed.
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
