import { serviceError } from '../domain/errors.ts';
import { createFairQueue } from '../domain/kit/fair-queue.ts';
import { createMemoryBudget } from '../domain/kit/memory-budget.ts';
import { type Principal, sharerOf } from '../domain/principal.ts';

/**
 * Maximum number of large operations that run at the same time in this process. The rows and the answer of one may take
 * 50 MB.
 */
const AT_A_TIME = 2;
/** Maximum waiting time for a place, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Maximum number of bytes that waiting operations of all callers hold together. */
const HELD_BYTES = 64 * 1024 * 1024;

/** Waits for a place among the large operations of this process, which REST and GraphQL share; see `enter`. */
export function enterLarge(principal: Principal, heldBytes = 0): Promise<() => void> {
  return places.enter(sharerOf(principal), heldBytes);
}

/** Limits the number of concurrent large operations. Callers get places in turn, so none can delay the others. */
export function createLargeOperations(places = AT_A_TIME, patienceMs = PATIENCE_MS) {
  const queue = createFairQueue({ places, patienceMs });
  // The latest, because an operation that has waited long is nearest to its place.
  const waiting = createMemoryBudget(HELD_BYTES, 'latest');
  return {
    /**
     * Waits for a place.
     * @param heldBytes memory that the operation holds while it waits, because it became large as it ran, bytes
     * @returns a function that releases the place
     * @throws {ServiceError} 503 if no place was free within the waiting time, or if the waiting operations together
     *   hold too much and this caller holds most of it
     */
    enter(caller: string, heldBytes = 0): Promise<() => void> {
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      let uncount = (): void => undefined;
      const waits = !queue.hasPlace(caller);
      const start = (release: () => void) => {
        uncount();
        resolve(release);
      };
      const refuse = () => {
        uncount();
        reject(serviceError('internal_error', 'Too many large operations are running. Try again.', null, 503));
      };
      const leave = queue.lineUp(caller, start, refuse);
      const drop = () => {
        leave();
        refuse();
      };
      if (waits) uncount = waiting.add(caller, { bytes: heldBytes, drop });
      return promise;
    },
  };
}

const places = createLargeOperations();
