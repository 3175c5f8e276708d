import { serviceError } from '../domain/errors.ts';

/** Large operations that run at a time in this process: what one of them reads and answers may take 50 MB. */
const AT_A_TIME = 2;
/** How long one waits for its place, milliseconds. */
const PATIENCE_MS = 10_000;

/** Places for operations that may need much memory. Callers take turns, so that one who asks for many holds up nobody but himself. */
export interface LargeOperations {
  /**
   * Waits for a place.
   * @returns gives it back
   * @throws {ServiceError} 503 when none was free for too long
   */
  enter(caller: string): Promise<() => void>;
}

export function createLargeOperations(atATime = AT_A_TIME, patienceMs = PATIENCE_MS): LargeOperations {
  let free = atATime;
  /** Who waits, by caller: the first caller's first is next, then that caller goes to the end. */
  const waiting = new Map<string, (() => void)[]>();

  function leave(): void {
    const [next] = waiting;
    if (!next) {
      free++;
      return;
    }
    const [caller, [start, ...others]] = next;
    waiting.delete(caller);
    if (others.length > 0) waiting.set(caller, others);
    start?.();
  }

  function place(): () => void {
    let taken = true;
    return () => {
      if (taken) leave();
      taken = false;
    };
  }

  return {
    async enter(caller) {
      if (free > 0) {
        free--;
        return place();
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const line = waiting.get(caller) ?? [];
      waiting.set(caller, [...line, resolve]);
      const timer = setTimeout(() => {
        const others = waiting.get(caller)?.filter((each) => each !== resolve) ?? [];
        if (others.length > 0) waiting.set(caller, others);
        else waiting.delete(caller);
        reject(serviceError('internal_error', 'Too many large answers are asked for. Try again.', null, 503));
      }, patienceMs);
      await promise.finally(() => clearTimeout(timer));
      return place();
    },
  };
}
