import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';

/** The id of the element with a page's content. */
const CONTENT = 'content';

let shownPath: string | null = null;

/**
 * Moves the focus to the content after a change of the page: the focused link may be gone, and a screen reader would
 * announce nothing. Does nothing where the browser itself has loaded the page.
 */
export function useContentFocus(): void {
  const { path } = useLocation();
  useLayoutEffect(() => {
    if (shownPath !== null && shownPath !== path) focusContent();
    shownPath = path;
  }, [path]);
}

/** Moves the focus without scrolling, because the router scrolls. */
export function focusContent(): void {
  document.getElementById(CONTENT)?.focus({ preventScroll: true });
}
