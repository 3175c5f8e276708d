import { serviceError } from '../domain/errors.ts';
import { createFairQueue, QueueFull } from '../domain/kit/fair-queue.ts';
import { type Principal, sharerOf } from '../domain/principal.ts';

/**
 * Maximum number of large operations that run at once in this process. The rows and the answer of one may take 50 MB.
 */
const AT_A_TIME = 2;
/** Maximum waiting time for a place, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Maximum number of bytes that waiting operations of a caller hold together. */
const HELD_BYTES = 64 * 1024 * 1024;

/** Waits for a place among the large operations of this process, which REST and GraphQL share; see `enter`. */
export function enterLarge(principal: Principal, heldBytes = 0): Promise<() => void> {
  return places.enter(sharerOf(principal), heldBytes);
}

/** Limits the number of concurrent large operations. Callers get places in turn, so none can delay the others. */
export function createLargeOperations(places = AT_A_TIME, patienceMs = PATIENCE_MS) {
  const queue = createFairQueue({ places, patienceMs });
  const held = new Map<string, number>();
  function hold(caller: string, bytes: number): void {
    const sum = (held.get(caller) ?? 0) + bytes;
    if (sum > 0) held.set(caller, sum);
    else held.delete(caller);
  }
  return {
    /**
     * Waits for a place.
     * @param heldBytes what the operation holds in memory while it waits, because it became large as it ran
     * @returns a function that releases the place
     * @throws {ServiceError} 503 if no place was free within the waiting time, or at once if the caller's waiting
     *   operations hold too much
     */
    async enter(caller: string, heldBytes = 0): Promise<() => void> {
      const isMuch = heldBytes > 0 && (held.get(caller) ?? 0) + heldBytes > HELD_BYTES;
      hold(caller, heldBytes);
      try {
        if (isMuch) throw new QueueFull();
        return await queue.enter(caller);
      } catch {
        throw serviceError('internal_error', 'Too many large operations are running. Try again.', null, 503);
      } finally {
        hold(caller, -heldBytes);
      }
    },
  };
}

const places = createLargeOperations();
