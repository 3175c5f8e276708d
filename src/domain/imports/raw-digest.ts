import { createHash } from 'node:crypto';
import { cellText, type SheetRow } from './cell.ts';
import type { Layout } from './layout.ts';

/** The digest of what rows show. */
export interface RawDigest {
  add(row: SheetRow): void;
  /** @returns hexadecimal */
  end(): string;
}

/** Separate cells, and rows. No text of a cell has them. */
const [AFTER_CELL, AFTER_ROW] = ['\n', '\n\n'];

/**
 * Digests the texts of rows, whatever the order and the headers of their columns. Empty cells and the columns of results
 * do not count, so that a returned file has the digests of the one that was uploaded, and a column may be renamed.
 */
export function createRawDigest({ resultColumns }: Pick<Layout, 'resultColumns'>): RawDigest {
  const hash = createHash('sha256');
  return {
    add({ cells }) {
      const shown = cells.flatMap((cell, index) => {
        const text = resultColumns.has(index) ? '' : cellText(cell);
        return text === '' ? [] : [`${text}${AFTER_CELL}`];
      });
      hash.update(shown.toSorted().join('') + AFTER_ROW);
    },
    end: () => hash.digest('hex'),
  };
}
