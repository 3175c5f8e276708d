import { createHash } from 'node:crypto';
import { cellText, type SheetRow } from './cell.ts';
import type { Layout } from './layout.ts';

/** The digest of what rows show. */
export interface RawDigest {
  add(row: SheetRow): void;
  /** @returns hexadecimal */
  end(): string;
}

/** Separate the header from the text of a cell, cells, and rows. No text of a cell has them. */
const [BETWEEN, AFTER_CELL, AFTER_ROW] = ['\t', '\n', '\n\n'];

/**
 * Digests the texts of rows by the headers of their columns, in the order of the headers. Empty cells and the columns of
 * results do not count, so that a returned file has the digests of the one that was uploaded.
 */
export function createRawDigest({ headerKeys, resultColumns }: Layout): RawDigest {
  const hash = createHash('sha256');
  return {
    add({ cells }) {
      const shown = cells.flatMap((cell, index) => {
        const text = resultColumns.has(index) ? '' : cellText(cell);
        return text === '' ? [] : [`${headerKeys[index] || index}${BETWEEN}${text}${AFTER_CELL}`];
      });
      hash.update(shown.toSorted().join('') + AFTER_ROW);
    },
    end: () => hash.digest('hex'),
  };
}
