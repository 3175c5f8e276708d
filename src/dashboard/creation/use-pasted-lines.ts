import { useState } from 'preact/hooks';
import type { TypedInvoice } from './drawn-up.ts';
import { type TooMuch, withPasted } from './pasted-lines.ts';

type Lines = TypedInvoice['lines'];

export interface PastedLines {
  /** Handles a paste into a field of a line, counted from 0. */
  readonly paste: (event: ClipboardEvent, index: number, column: string) => void;
  /** Undoes the whole last paste; null if nothing was pasted, or something was typed since. */
  readonly undo: (() => void) | null;
  /** Why nothing of the last paste was taken; null if it was, or something was typed since. */
  readonly refused: TooMuch | null;
}

/** Fills the lines of a form with all cells that are pasted from a spreadsheet, or with none; one step undoes it. */
export function usePastedLines(typed: TypedInvoice, onTyped: (typed: TypedInvoice) => void): PastedLines {
  const [last, setLast] = useState<{ before: Lines; lines: Lines; refused: TooMuch | null } | null>(null);
  const shown = last?.lines === typed.lines ? last : null;
  return {
    paste(event, index, column) {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      const pasted = withPasted(typed.lines, { index, column, text });
      if (pasted === null) return;
      event.preventDefault();
      const before = typed.lines;
      if ('refused' in pasted) return setLast({ before, lines: before, refused: pasted.refused });
      setLast({ before, lines: pasted.lines, refused: null });
      onTyped({ ...typed, lines: pasted.lines });
    },
    undo:
      shown && !shown.refused
        ? () => {
            onTyped({ ...typed, lines: shown.before });
            setLast(null);
          }
        : null,
    refused: shown?.refused ?? null,
  };
}
