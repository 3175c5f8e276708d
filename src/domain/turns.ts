/**
 * The work that one turn of the event loop may do, shared by all requests of the process: whoever has more to do waits for the next turn,
 * so that other requests, timers and health checks are served in between. Work is counted before it is done, in units of about a
 * microsecond on a slow core.
 */
const UNITS_A_TURN = 3000;

/** Units of decoding, and of writing JSON: bytes a microsecond. */
export const DECODED_BYTES_A_UNIT = 64;
export const WRITTEN_BYTES_A_UNIT = 200;

interface Waiting {
  readonly units: number;
  readonly start: () => void;
}

let left = UNITS_A_TURN;
let refilling = false;
const waiting: Waiting[] = [];

/**
 * Counts work that is about to be done.
 * @returns null when it may be done at once; otherwise resolves in the turn in which it may
 */
export function takeTurn(units: number): Promise<void> | null {
  if (!refilling) {
    refilling = true;
    setImmediate(refill);
  }
  if (left > 0 && waiting.length === 0) {
    left -= units;
    return null;
  }
  return new Promise((start) => waiting.push({ units, start }));
}

/** Work that was larger than a turn is not made up for: the loop has turned, which is all that is asked. */
function refill(): void {
  left = UNITS_A_TURN;
  for (let next = waiting[0]; next && left > 0; next = waiting[0]) {
    waiting.shift();
    left -= next.units;
    next.start();
  }
  refilling = waiting.length > 0;
  if (refilling) setImmediate(refill);
}
