import { setImmediate as turn } from 'node:timers/promises';

/** Listeners that are told before others get a turn: about a millisecond of work. */
const AT_A_TIME = 50;

/**
 * Calls each listener that there is, and is still there when its turn comes. Thousands are told in steps: the first ones' answers go out
 * while others are yet to be told, and requests need not wait for all of them.
 */
export async function tellAll<Listener>(
  listeners: ReadonlySet<Listener> | undefined,
  tell: (listener: Listener) => void,
): Promise<void> {
  if (!listeners) return;
  let told = 0;
  for (const listener of [...listeners]) {
    if (told++ % AT_A_TIME === 0 && told > 1) await turn();
    if (listeners.has(listener)) tell(listener);
  }
}
