import { CommandError } from '../errors.ts';
import { asDoc, type Doc, wholeNumber } from '../query/types.ts';

interface FailPoint {
  /** How many more times the fail point fires; Infinity for `alwaysOn`. */
  left: number;
  /** How many more times the fail point is skipped before it fires. */
  skip: number;
  /** How many times the fail point was reached. */
  entered: number;
  data: Doc;
}

/** Fail points: failures that a driver test configures, as with mongod's `configureFailPoint`. */
export class FailPoints {
  readonly #set = new Map<string, FailPoint>();

  /** Sets or removes a fail point. Returns how often the previous one with this name was reached. */
  configure(name: string, mode: unknown, data: Doc): number {
    const before = this.#set.get(name)?.entered ?? 0;
    const point: FailPoint = { left: Number.POSITIVE_INFINITY, skip: 0, entered: 0, data };
    const counted = asDoc(mode);
    if (counted) {
      const times = wholeNumber(counted.times);
      const skip = wholeNumber(counted.skip);
      if (times === undefined && skip === undefined) throw badMode(mode);
      if (times !== undefined) point.left = Number(times);
      if (skip !== undefined) point.skip = Number(skip);
    } else if (mode !== 'alwaysOn' && mode !== 'off') throw badMode(mode);
    if (mode === 'off') this.#set.delete(name);
    else this.#set.set(name, point);
    return before;
  }

  /** Returns the data of a fail point if it is set, `applies` to this call, and fires now. */
  hit(name: string, applies: (data: Doc) => boolean = () => true): Doc | undefined {
    const point = this.#set.get(name);
    if (!point || point.left <= 0 || !applies(point.data)) return undefined;
    point.entered++;
    if (point.skip > 0) {
      point.skip--;
      return undefined;
    }
    point.left--;
    return point.data;
  }
}

function badMode(mode: unknown): CommandError {
  return new CommandError('BadValue', `invalid fail point mode: ${JSON.stringify(mode)}`);
}
