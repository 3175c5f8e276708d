import { useState } from 'preact/hooks';
import type { TypedInvoice } from './drawn-up.ts';
import { withPasted } from './pasted-lines.ts';

type Lines = TypedInvoice['lines'];

export interface PastedLines {
  /** Handles a paste into a field of a line, counted from 0. */
  readonly paste: (event: ClipboardEvent, index: number, column: string) => void;
  /** Takes everything of the last paste back; null if nothing was pasted, or something was typed since. */
  readonly undo: (() => void) | null;
}

/** Fills the lines of a form with what is pasted from a spreadsheet, and takes it back in one step. */
export function usePastedLines(typed: TypedInvoice, onTyped: (typed: TypedInvoice) => void): PastedLines {
  const [last, setLast] = useState<{ readonly before: Lines; readonly lines: Lines } | null>(null);
  return {
    paste(event, index, column) {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      const lines = withPasted(typed.lines, { index, column, text });
      if (lines === null) return;
      event.preventDefault();
      setLast({ before: typed.lines, lines });
      onTyped({ ...typed, lines });
    },
    undo:
      last?.lines === typed.lines
        ? () => {
            onTyped({ ...typed, lines: last.before });
            setLast(null);
          }
        : null,
  };
}
