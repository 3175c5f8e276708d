import { type Cell, cellText } from './cell.ts';
import type { CellValue } from './cell-value.ts';
import { choiceKey } from './choices.ts';
import { SOURCE_STATES, type SourceState } from './source-states.ts';

const BY_WORD: ReadonlyMap<string, SourceState> = new Map(
  Object.entries(SOURCE_STATES).flatMap(([state, words]) =>
    words.map((word) => [choiceKey(word), state as SourceState] as const),
  ),
);

/** Returns the state that a cell names; null if it is unknown. */
export function stateOf(cell: Cell): SourceState | null {
  return BY_WORD.get(choiceKey(cellText(cell))) ?? null;
}

/**
 * Reads the kind or state of a document in another program. The state of a valid invoice has no value. An unknown state
 * is a fault, because the document may not be an invoice.
 */
export function readState(cell: Cell): CellValue {
  const state = stateOf(cell);
  if (state === 'stands') return { value: undefined };
  if (state === 'deposit') return { value: state };
  return { fault: state ?? 'unknown_state' };
}

/** Words that mean "no" in a column of cancellations, folded. */
const NOT_CANCELLED = new Set(['', '0', '00', '000', 'non', 'n', 'no', 'faux', 'false', 'لا'].map(choiceKey));

/** Reads whether another program has cancelled a document: a date, or a word for "yes". */
export function readCancelled(cell: Cell): CellValue {
  return NOT_CANCELLED.has(choiceKey(cellText(cell))) ? { value: undefined } : { fault: 'cancelled' };
}
