import { randomBytes } from 'node:crypto';

/** Creation time and sort key of an object. Keys compare as text in the order of creation. */
export interface CreationMoment {
  readonly createdAt: Date;
  /**
   * Hex digits: 12 for UNIX milliseconds, 4 for a counter within the millisecond, 8 random ones for this process, new ones
   * after its clock was set back.
   */
  readonly order: string;
}

/** Small corrections of the clock do not change the order; a larger one is believed, because times have legal value. */
const MOST_SET_BACK_MS = 60_000;

const newSuffix = () => randomBytes(4).toString('hex');
let suffix = newSuffix();
let lastMilliseconds = 0;
let counter = 0;

/** A moment later than every earlier one of this process, unless the clock was set back by more than a minute. */
export function newCreationMoment(now: number = Date.now()): CreationMoment {
  if (lastMilliseconds - now > MOST_SET_BACK_MS) {
    // Moments of the same milliseconds may have been given before.
    suffix = newSuffix();
    lastMilliseconds = 0;
  }
  if (now > lastMilliseconds) {
    lastMilliseconds = now;
    counter = 0;
  } else if (counter === 0xffff) {
    lastMilliseconds += 1;
    counter = 0;
  } else {
    counter += 1;
  }
  return {
    createdAt: new Date(lastMilliseconds),
    order: `${millisecondsPart(lastMilliseconds)}${counter.toString(16).padStart(4, '0')}${suffix}`,
  };
}

/** The lower bound of all keys of an instant, in UNIX milliseconds, and later. It has the full length of a key. */
export function orderAt(milliseconds: number): string {
  return millisecondsPart(milliseconds).padEnd(24, '0');
}

function millisecondsPart(milliseconds: number): string {
  return Math.max(0, Math.min(milliseconds, 0xffffffffffff)).toString(16).padStart(12, '0');
}
