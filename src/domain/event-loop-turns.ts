/**
 * Maximum work in one turn of the event loop, shared by all requests of the process. Further work waits for the next
 * turn, so that other requests, timers and health checks run in between. Work is counted in advance, in units of about
 * a microsecond on a slow core.
 */
const UNITS_A_TURN = 3000;

/** Bytes that are decoded, and bytes of JSON that are written, in one unit. */
export const DECODED_BYTES_A_UNIT = 64;
export const WRITTEN_BYTES_A_UNIT = 200;

interface Waiting {
  readonly units: number;
  readonly isOver: () => boolean;
  readonly start: () => void;
}

let left = UNITS_A_TURN;
let refilling = false;
const waiting: Waiting[] = [];

/**
 * Reserves work that is about to start.
 * @param isOver whether nobody needs the work any more. Work that is over when its turn comes takes nothing of the
 *   turn.
 * @returns null if it may start at once; otherwise a promise that resolves in the turn in which it may
 */
export function takeTurn(units: number, isOver = () => false): Promise<void> | null {
  if (takeRoom(units)) return null;
  return new Promise((start) => waiting.push({ units, isOver, start }));
}

/** Reserves work if it may start at once. @returns whether it may */
export function takeRoom(units: number): boolean {
  if (!refilling) {
    refilling = true;
    setImmediate(refill);
  }
  if (left <= 0 || waiting.length > 0) return false;
  left -= units;
  return true;
}

/** Starts a turn with the full amount. Excess work of a turn is not deducted from later ones: yielding is enough. */
function refill(): void {
  left = UNITS_A_TURN;
  for (let next = waiting[0]; next && left > 0; next = waiting[0]) {
    waiting.shift();
    if (!next.isOver()) left -= next.units;
    next.start();
  }
  refilling = waiting.length > 0;
  if (refilling) setImmediate(refill);
}
