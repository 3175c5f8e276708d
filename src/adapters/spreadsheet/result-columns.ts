import { RESULT_COLUMNS } from '../../domain/imports/column-headers.ts';
import type { RowVerdict } from '../../domain/imports/ports.ts';
import type { FileReading } from '../../domain/imports/reading.ts';
import { headerKey } from '../../domain/imports/recognize-columns.ts';

type ResultColumn = keyof typeof RESULT_COLUMNS;

/** A column of verdicts. */
export interface ResultPlace {
  readonly name: ResultColumn;
  /** From 0. */
  readonly index: number;
  readonly heading: string;
  /** Whether the file already has the column from an earlier return. */
  readonly isThere: boolean;
}

/**
 * Returns the positions of the verdicts, in the order of the columns: an existing column keeps its position; the others
 * follow the last used column.
 * @param used number of columns up to the last one with content
 */
export function resultPlaces(reading: FileReading, used: number): ResultPlace[] {
  const names = Object.keys(RESULT_COLUMNS) as ResultColumn[];
  const there = new Map<ResultColumn, number>();
  for (const { index, header, isResult } of reading.columns) {
    const name = isResult ? names.find((each) => isHeaderOf(each, header)) : undefined;
    if (name !== undefined && !there.has(name)) there.set(name, index);
  }
  let next = used;
  const places = names.map((name) => {
    const found = there.get(name);
    return {
      name,
      index: found ?? next++,
      heading: RESULT_COLUMNS[name][reading.language],
      isThere: found !== undefined,
    };
  });
  return places.toSorted((a, b) => a.index - b.index);
}

function isHeaderOf(column: ResultColumn, header: string): boolean {
  return Object.values(RESULT_COLUMNS[column]).some((text) => headerKey(text) === headerKey(header));
}

/** Returns the verdicts of rows that are requested in their order. */
export class VerdictCursor {
  readonly #verdicts: AsyncIterator<RowVerdict>;
  #next: RowVerdict | null | undefined;

  constructor(verdicts: AsyncIterable<RowVerdict>) {
    this.#verdicts = verdicts[Symbol.asyncIterator]();
  }

  /** Returns the next verdict of this row or an earlier one; null if there is none. */
  async upTo(row: number): Promise<RowVerdict | null> {
    if (this.#next === undefined) {
      const { done, value } = await this.#verdicts.next();
      this.#next = done ? null : value;
    }
    if (this.#next === null || this.#next.row > row) return null;
    const verdict = this.#next;
    this.#next = undefined;
    return verdict;
  }

  /** Stops the reading of verdicts. */
  async close(): Promise<void> {
    await this.#verdicts.return?.();
  }
}
