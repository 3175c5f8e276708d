import { useLayoutEffect, useMemo, useState } from 'preact/hooks';

/**
 * Returns the state of a form, which the browser keeps in this tab: over a wrong click, a reload and a new sign-in.
 * @param key made by `keyOfKept`
 * @param initial the initial state, which is not kept
 * @returns the state, its setter, and whether it is one that was kept
 */
export function useKeptTyped<Typed extends object>(
  key: string,
  initial: () => Typed,
): readonly [Typed, (typed: Typed) => void, boolean] {
  const first = useMemo(initial, []);
  const kept = useMemo(() => readTyped<Typed>(key), []);
  const [typed, setTyped] = useState<Typed>(kept === null ? first : { ...first, ...kept });
  // Before the next key is pressed, or the page is left.
  useLayoutEffect(() => keepTyped(key, written(typed) === written(first) ? null : typed), [typed]);
  return [typed, setTyped, kept !== null];
}

/** Reads what was kept under a key. @returns null if nothing was */
export function readTyped<Typed extends object>(key: string): Typed | null {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(key) ?? 'null', (_name, value) =>
      Array.isArray(value?.map) ? new Map(value.map) : value,
    );
    return typeof found === 'object' && found !== null ? (found as Typed) : null;
  } catch {
    return null; // The browser stores nothing for this page.
  }
}

/** Keeps the typed state; removes it if it is null. */
export function keepTyped(key: string, typed: object | null): void {
  try {
    if (typed === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, written(typed));
  } catch {
    // The browser stores nothing for this page, or no more.
  }
}

/** Writes the typed state, with its maps. */
function written(typed: object): string {
  return JSON.stringify(typed, (_name, value) => (value instanceof Map ? { map: [...value] } : value));
}
