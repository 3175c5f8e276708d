import { type Cell, cellText } from './cell.ts';
import type { CellValue } from './cell-value.ts';
import { choiceKey } from './choices.ts';
import { SOURCE_STATES, type SourceState } from './source-states.ts';

const BY_WORD: ReadonlyMap<string, SourceState> = new Map(
  Object.entries(SOURCE_STATES).flatMap(([state, words]) =>
    words.map((word) => [choiceKey(word), state as SourceState] as const),
  ),
);

/** Finds what a cell says of a document; null if it is not known. */
export function stateOf(cell: Cell): SourceState | null {
  return BY_WORD.get(choiceKey(cellText(cell))) ?? null;
}

/**
 * Reads what another program says of a document. An invoice that stands states nothing. What is not known is a fault,
 * because an invoice would be issued of what may be none.
 */
export function readState(cell: Cell): CellValue {
  const state = stateOf(cell);
  if (state === 'stands') return { value: undefined };
  if (state === 'deposit') return { value: state };
  return { fault: state ?? 'unknown_state' };
}

/** Words of a column of cancellations for none, folded. */
const NOT_CANCELLED = new Set(['', '0', '00', '000', 'non', 'n', 'no', 'faux', 'false', 'لا'].map(choiceKey));

/** Reads whether another program has cancelled a document: by a date, or a word for yes. */
export function readCancelled(cell: Cell): CellValue {
  return NOT_CANCELLED.has(choiceKey(cellText(cell))) ? { value: undefined } : { fault: 'cancelled' };
}
