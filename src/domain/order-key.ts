import { randomBytes } from 'node:crypto';

/** Creation time and sort key of an object. Keys compare as text in the order of creation. */
export interface CreationMoment {
  /** The time of the clock, which has legal value. The time of the key is never before it. */
  readonly createdAt: Date;
  /**
   * Hex digits: 12 for UNIX milliseconds, 4 for a counter within the millisecond, 8 random ones for this process, new
   * ones after its clock was set back.
   */
  readonly order: string;
}

/**
 * Corrections of the clock up to this do not change the order, milliseconds. After a larger one, keys follow the clock.
 */
const MOST_SET_BACK_MS = 60_000;

/** Hex digits of the parts of a key. */
const [MILLISECONDS_DIGITS, COUNTER_DIGITS] = [12, 4];

const newSuffix = () => randomBytes(4).toString('hex');
let suffix = newSuffix();
let lastMilliseconds = 0;
let counter = 0;

/**
 * Returns a moment whose key is above every earlier key of this process, unless the clock was set back by more than a
 * minute.
 */
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
    createdAt: new Date(now),
    order: keyOf(lastMilliseconds, counter),
  };
}

/**
 * Returns the lowest key of this process that is higher than another one: in its millisecond, or in the next
 * millisecond if that has no more room.
 */
export function orderAfter(order: string): string {
  const count = Number.parseInt(order.slice(MILLISECONDS_DIGITS, MILLISECONDS_DIGITS + COUNTER_DIGITS), 16);
  const milliseconds = millisecondsOf(order);
  return count === 0xffff ? keyOf(milliseconds + 1, 0) : keyOf(milliseconds, count + 1);
}

/** Returns the UNIX milliseconds of a key. */
export function millisecondsOf(order: string): number {
  return Number.parseInt(order.slice(0, MILLISECONDS_DIGITS), 16);
}

/**
 * Returns the lower bound of all keys of an instant, in UNIX milliseconds, and later. It has the full length of a key.
 */
export function orderAt(milliseconds: number): string {
  return millisecondsPart(milliseconds).padEnd(24, '0');
}

function keyOf(milliseconds: number, count: number): string {
  return `${millisecondsPart(milliseconds)}${count.toString(16).padStart(COUNTER_DIGITS, '0')}${suffix}`;
}

function millisecondsPart(milliseconds: number): string {
  return Math.max(0, Math.min(milliseconds, 0xffffffffffff)).toString(16).padStart(MILLISECONDS_DIGITS, '0');
}
