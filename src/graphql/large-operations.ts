import { serviceError } from '../domain/errors.ts';
import { createFairQueue, QueueFull } from '../domain/kit/fair-queue.ts';
import { type Principal, sharerOf } from '../domain/principal.ts';

/**
 * Maximum number of large operations that run at once in this process. The rows and the answer of one may take 50 MB.
 */
const AT_A_TIME = 2;
/** Maximum waiting time for a place, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Maximum number of bytes that waiting operations of all callers hold together. */
const HELD_BYTES = 64 * 1024 * 1024;

/** An operation that waits for its place. */
interface Waiting {
  readonly caller: string;
  readonly heldBytes: number;
  giveUp(): void;
}

/** Waits for a place among the large operations of this process, which REST and GraphQL share; see `enter`. */
export function enterLarge(principal: Principal, heldBytes = 0): Promise<() => void> {
  return places.enter(sharerOf(principal), heldBytes);
}

/** Limits the number of concurrent large operations. Callers get places in turn, so none can delay the others. */
export function createLargeOperations(places = AT_A_TIME, patienceMs = PATIENCE_MS) {
  const queue = createFairQueue({ places, patienceMs });
  const waiting = new Set<Waiting>();

  /** Ends operations until the rest holds little enough: each time the latest of the caller that holds most. */
  function limitHeld(): void {
    const rest = [...waiting].filter(({ heldBytes }) => heldBytes > 0);
    for (let sum = heldBy(rest); sum > HELD_BYTES; sum = heldBy(rest)) {
      const byCaller = [...Map.groupBy(rest, ({ caller }) => caller).values()];
      const most = byCaller.reduce((one, other) => (heldBy(other) > heldBy(one) ? other : one));
      const latest = most.at(-1) as Waiting;
      rest.splice(rest.indexOf(latest), 1);
      waiting.delete(latest);
      latest.giveUp();
    }
  }

  return {
    /**
     * Waits for a place.
     * @param heldBytes what the operation holds in memory while it waits, because it became large as it ran
     * @returns a function that releases the place
     * @throws {ServiceError} 503 if no place was free within the waiting time, or if all that wait hold too much and
     *   this caller holds most of it
     */
    async enter(caller: string, heldBytes = 0): Promise<() => void> {
      const ended = Promise.withResolvers<never>();
      const entry = { caller, heldBytes, giveUp: () => ended.reject(new QueueFull()) };
      waiting.add(entry);
      const entering = queue.enter(caller);
      if (heldBytes > 0) limitHeld();
      try {
        return await Promise.race([entering, ended.promise]);
      } catch {
        // A place that comes later is not needed.
        entering.then(
          (leave) => leave(),
          () => undefined,
        );
        throw serviceError('internal_error', 'Too many large operations are running. Try again.', null, 503);
      } finally {
        waiting.delete(entry);
      }
    },
  };
}

function heldBy(operations: readonly Waiting[]): number {
  return operations.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
}

const places = createLargeOperations();
