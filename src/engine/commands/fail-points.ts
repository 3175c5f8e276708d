import { CommandError } from '../errors.ts';
import { asDoc, type Doc, wholeNumber } from '../query/types.ts';

interface FailPoint {
  /** Times that it still applies; Infinity when it is always on. */
  left: number;
  /** Times that it lets pass first. */
  skip: number;
  /** Times that it was reached. */
  entered: number;
  data: Doc;
}

/** Failures that a test asks the server for, as mongod's `configureFailPoint` sets them; there are none unless the engine runs with test commands. */
export class FailPoints {
  readonly #set = new Map<string, FailPoint>();

  /** Sets or removes one; gives how often the one that was there had been reached. */
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

  /** What a fail point wants done, when it is set and `applies` says that it concerns this moment. */
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
  return new CommandError('BadValue', `unknown mode of a fail point: ${JSON.stringify(mode)}`);
}
