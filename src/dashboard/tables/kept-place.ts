import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { ROW_LINK } from './row-keys.ts';

/** Where a page was when a link was followed. Kept in the entry of the browser's history. */
interface Place {
  readonly top: number;
  /** The address of the focused row. */
  readonly row: string | null;
}

/**
 * Scrolls back, and focuses the row that was opened, when the reader goes back to a list. The browser alone cannot,
 * because the rows are not there yet when it tries.
 * @param isShown whether the rows are there
 */
export function useKeptPlace(table: RefObject<HTMLElement | null>, isShown: boolean): void {
  useEffect(() => {
    function keep({ target }: MouseEvent): void {
      const link = target instanceof Element ? target.closest('a') : null;
      if (!link) return;
      const row = link.matches(ROW_LINK) && table.current?.contains(link) ? link.getAttribute('href') : null;
      history.replaceState({ ...history.state, place: { top: scrollY, row } satisfies Place }, '');
    }
    // Before the router adds an entry.
    addEventListener('click', keep, true);
    return () => removeEventListener('click', keep, true);
  }, [table]);
  useLayoutEffect(() => {
    const { place, ...state } = (history.state ?? {}) as { readonly place?: Place };
    if (!isShown || !place) return;
    history.replaceState(state, '');
    const links = [...(table.current?.querySelectorAll<HTMLElement>(ROW_LINK) ?? [])];
    links.find((link) => link.getAttribute('href') === place.row)?.focus({ preventScroll: true });
    scrollTo(0, place.top);
  }, [table, isShown]);
}
