import { serviceError } from '../domain/errors.ts';
import { createFairQueue } from '../domain/fair-queue.ts';

/** Large operations that run at a time in this process: what one of them reads and answers may take 50 MB. */
const AT_A_TIME = 2;
/** How long one waits for its place, milliseconds. */
const PATIENCE_MS = 10_000;

/** Places for operations that may need much memory. Callers take turns, so that one who asks for many delays nobody else. */
export interface LargeOperations {
  /**
   * Waits for a place.
   * @returns gives it back
   * @throws {ServiceError} 503 when none was free for too long
   */
  enter(caller: string): Promise<() => void>;
}

export function createLargeOperations(places = AT_A_TIME, patienceMs = PATIENCE_MS): LargeOperations {
  const queue = createFairQueue({ places, patienceMs });
  return {
    enter: (caller) =>
      queue.enter(caller).catch(() => {
        throw serviceError('internal_error', 'Too many large answers are asked for. Try again.', null, 503);
      }),
  };
}
