import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Elements in which a letter is typed, not a command. */
const TYPED_IN = 'input, select, textarea, [contenteditable]';

/** The link of a row, which is the only one with this class. */
export const ROW_LINK = 'a.row-link';

/**
 * Returns the letter of a key: the one on it, or, on keyboards with other letters, the one at its place on a Latin
 * keyboard.
 */
function letterOf({ key, code }: Pick<KeyboardEvent, 'key' | 'code'>): string {
  return /^[\x20-\x7e]$/.test(key) ? key : (/^Key([A-Z])$/.exec(code)?.[1] ?? key).toLowerCase();
}

/** Lets `j` and `k` move the focus to the next and the previous row of a table. Enter follows the focused link. */
export function useRowKeys(table: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    function move(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (!(event.target instanceof Element) || event.target.closest(TYPED_IN)) return;
      const step = { j: 1, k: -1 }[letterOf(event)];
      if (step === undefined || document.querySelector('dialog[open]')) return;
      const links = [...(table.current?.querySelectorAll<HTMLElement>(ROW_LINK) ?? [])];
      const focused = links.indexOf(document.activeElement as HTMLElement);
      const next = links[focused === -1 ? 0 : focused + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
    }
    addEventListener('keydown', move);
    return () => removeEventListener('keydown', move);
  }, [table]);
}
