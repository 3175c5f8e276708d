import { serviceError } from '../domain/errors.ts';
import { createFairQueue } from '../domain/kit/fair-queue.ts';
import { type Principal, sharerOf } from '../domain/principal.ts';

/**
 * Maximum number of large operations that run at once in this process. The rows and the answer of one may take 50 MB.
 */
const AT_A_TIME = 2;
/** Maximum waiting time for a place, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Waits for a place among the large operations of this process, which REST and GraphQL share; see `enter`. */
export function enterLarge(principal: Principal): Promise<() => void> {
  return places.enter(sharerOf(principal));
}

/** Limits the number of concurrent large operations. Callers get places in turn, so none can delay the others. */
export function createLargeOperations(places = AT_A_TIME, patienceMs = PATIENCE_MS) {
  const queue = createFairQueue({ places, patienceMs });
  return {
    /**
     * Waits for a place.
     * @returns a function that releases the place
     * @throws {ServiceError} 503 if no place was free within the waiting time
     */
    enter: (caller: string): Promise<() => void> =>
      queue.enter(caller).catch(() => {
        throw serviceError('internal_error', 'Too many large operations are running. Try again.', null, 503);
      }),
  };
}

const places = createLargeOperations();
