/**
 * The mark that a source yields now and then between documents, so that a long read can let other commands run.
 * Every stage passes it on; `commands/slices.ts` decides whether to stop there.
 */
export const PAUSE = Symbol('pause');
export type Pause = typeof PAUSE;

/** Items with pauses between them. */
export type Pausing<T> = Iterable<T | Pause>;

/** Work that pauses until it returns its result. */
export type Steps<T> = Generator<Pause, T, undefined>;

/** Number of items after which a loop over many of them pauses: less than a millisecond of work. */
export const PAUSE_ITEMS = 128;

/** The items, each changed. */
export function* mapped<A, B>(source: Pausing<A>, change: (item: A) => B): Generator<B | Pause> {
  for (const item of source) yield item === PAUSE ? PAUSE : change(item as A);
}

/** The items that pass the test. Pauses also where many in a row do not. */
export function* filtered<T>(source: Pausing<T>, test: (item: T) => boolean): Generator<T | Pause> {
  let refused = 0;
  for (const item of source) {
    if (item === PAUSE || test(item as T)) yield item;
    else if (++refused % PAUSE_ITEMS === 0) yield PAUSE;
  }
}

/** Gives every item to `each`. Pauses where the source does, and after many items. */
export function* drained<T>(source: Pausing<T>, each: (item: T) => void): Steps<void> {
  let seen = 0;
  for (const item of source) {
    if (item !== PAUSE) each(item as T);
    if (item === PAUSE || ++seen % PAUSE_ITEMS === 0) yield PAUSE;
  }
}

/** All items. Pauses as {@link drained}. */
export function* gathered<T>(source: Pausing<T>): Steps<T[]> {
  const items: T[] = [];
  yield* drained(source, (item) => items.push(item));
  return items;
}

/** The items for a reader that can not pause. */
export function* withoutPauses<T>(source: Pausing<T>): Generator<T> {
  for (const item of source) if (item !== PAUSE) yield item as T;
}
