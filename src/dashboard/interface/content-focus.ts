import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';

/** The id of the element with a page's content. */
const CONTENT = 'content';

let shownPath: string | null = null;

/**
 * After somebody went to another page, moves the focus to its content: the link that had it may be gone, and a screen
 * reader would say nothing. Not where the browser itself has loaded the page.
 */
export function useContentFocus(): void {
  const { path } = useLocation();
  useLayoutEffect(() => {
    if (shownPath !== null && shownPath !== path) focusContent();
    shownPath = path;
  }, [path]);
}

/** Without scrolling: the router does that. */
export function focusContent(): void {
  document.getElementById(CONTENT)?.focus({ preventScroll: true });
}
