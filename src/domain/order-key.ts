import { randomBytes } from 'node:crypto';

/** Where an invoice stands in its tenant's list: sorts as text in the order of creation. */
export interface CreationMoment {
  readonly createdAt: Date;
  /** 12 hex digits of UNIX milliseconds, 4 of a counter within the millisecond, 8 of this process. */
  readonly order: string;
}

const PROCESS = randomBytes(4).toString('hex');
let lastMilliseconds = 0;
let counter = 0;

/** A moment that is later than every earlier one of this process, also when the clock is set back. */
export function newCreationMoment(now: number = Date.now()): CreationMoment {
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
    order: `${millisecondsPart(lastMilliseconds)}${counter.toString(16).padStart(4, '0')}${PROCESS}`,
  };
}

/** The lower bound of all keys made at or after an instant, in UNIX milliseconds: as long as a key, so that no comparison needs prefixes. */
export function orderAt(milliseconds: number): string {
  return millisecondsPart(milliseconds).padEnd(24, '0');
}

function millisecondsPart(milliseconds: number): string {
  return Math.max(0, Math.min(milliseconds, 0xffffffffffff)).toString(16).padStart(12, '0');
}
