import { EMPTY_ARRAY, fieldBit } from '../query/keys.ts';
import { type Bound, boundIntervals, type Interval } from '../query/match.ts';
import { typeName } from '../query/types.ts';
import type { Index } from './catalog.ts';

/** A range of index keys from `low` (inclusive) to `high` (exclusive), in byte order. */
export interface KeyRange extends Interval {
  /** Number of leading bytes that all keys of the range share. The bytes after them give the order within the range. */
  prefix: number;
}

/** The key ranges of an index that a filter restricts a scan to. */
export interface IndexBounds {
  ranges: KeyRange[];
  /** Number of leading fields whose bounds are single values (points). */
  points: number;
  /** Number of those fields, counted from the first, that are bound to exactly one value. */
  constants: number;
  /** Number of ends, none to two, of the range of the field after the `points`. */
  rangeEnds: 0 | 1 | 2;
  /**
   * The bounds of the field after the one with a range, which apply at each value in the range: `intervals` in order.
   * `direction` is that of the field with the range. Absent if there are no such bounds.
   */
  within?: { readonly intervals: readonly Interval[]; readonly direction: 1 | -1 };
  /** The bounds of each field, as `explain` shows them. */
  shown: () => Record<string, string[]>;
}

/** An index scan. Its ranges contain the keys of every document that may match. */
export interface IndexScan {
  kind: 'IXSCAN';
  index: Index;
  bounds: IndexBounds;
  reverse: boolean;
  /** Whether the ranges must be merged for the sort order, because only each range by itself is in order. */
  merge: boolean;
}

const MAX_RANGES = 100_000;
/** The interval that contains every component of an index key. */
export const EVERYTHING: Interval = { low: new Uint8Array(), high: Uint8Array.of(0xff, 0xff) };

/** The ranges of `index` that contain every document that matches the filter with these `bounds`. */
export function indexBounds(index: Index, bounds: Map<string, Bound[]>): IndexBounds {
  const found: IndexBounds = {
    ranges: [{ ...EVERYTHING, prefix: 0 }],
    points: 0,
    constants: 0,
    rangeEnds: 0,
    shown: () => Object.fromEntries(index.fields.map(([path]) => [path, showField(bound.get(path))])),
  };
  const bound = new Map<string, Bound[]>();
  let prefixes: Uint8Array[] = [new Uint8Array()];
  const heads = new Set<string>();
  for (const [place, [path, direction]] of index.fields.entries()) {
    const head = path.split('.', 1)[0] as string;
    // Different elements of an array may match the bounds of its fields, so only the first field of an array is bound.
    const own = index.multikey && heads.has(head) ? [] : chosen(bounds.get(path) ?? [], hasArrays(index, place));
    heads.add(head);
    if (own.length === 0) break;
    const intervals = own.map((bound) => boundIntervals(bound, direction)).reduce(intersect);
    if (intervals.length * prefixes.length > MAX_RANGES) break;
    const isPoint = own.some(({ op }) => op === 'eq' || op === 'in');
    found.ranges = prefixes.flatMap((prefix) =>
      intervals.map(({ low, high }) => ({
        low: joined(prefix, low),
        high: joined(prefix, high),
        prefix: prefix.length + (isPoint ? low.length : 0),
      })),
    );
    bound.set(path, own);
    if (!isPoint) {
      found.rangeEnds = own.length > 1 || own[0]?.op === 'prefix' ? 2 : 1;
      const [next, nextDirection = 1] = index.fields[place + 1] ?? [];
      const inner = next !== undefined && !index.multikey ? chosen(bounds.get(next) ?? [], false) : [];
      if (next !== undefined && inner.length > 0) {
        const within = inner.map((each) => boundIntervals(each, nextDirection)).reduce(intersect);
        found.within = { intervals: within.sort((a, b) => Buffer.compare(a.low, b.low)), direction };
        bound.set(next, inner);
      }
      break;
    }
    if (intervals.length <= 1 && found.constants === found.points) found.constants++;
    found.points++;
    prefixes = found.ranges.map(({ low }) => low);
  }
  found.ranges.sort((a, b) => Buffer.compare(a.low, b.low));
  return found;
}

/** Whether documents have had arrays in the field of an index at this position. */
export function hasArrays({ arrays }: Index, position: number): boolean {
  return (arrays & fieldBit(position)) !== 0;
}

/**
 * The bounds that may be combined: all of them, or a single one for a field that has arrays, because different elements
 * of an array may match different bounds.
 */
function chosen(bounds: Bound[], isArray: boolean): Bound[] {
  const ends = bounds.filter(({ op }) => op !== 'exists');
  if (!isArray) return ends;
  const point = ends.find(({ op }) => op === 'eq' || op === 'in') ?? ends[0];
  return point ? [point] : [];
}

function intersect(left: Interval[], right: Interval[]): Interval[] {
  const both = left.flatMap((a) =>
    right.map((b) => ({
      low: Buffer.compare(a.low, b.low) >= 0 ? a.low : b.low,
      high: Buffer.compare(a.high, b.high) <= 0 ? a.high : b.high,
    })),
  );
  return both.filter(({ low, high }) => Buffer.compare(low, high) < 0);
}

/** Concatenates two parts of a key. */
export function joined(prefix: Uint8Array, rest: Uint8Array): Uint8Array {
  return prefix.length === 0 ? rest : Buffer.concat([prefix, rest]);
}

function showField(bounds: Bound[] | undefined): string[] {
  if (!bounds) return ['[MinKey, MaxKey]'];
  return bounds.some(({ op }) => op === 'eq' || op === 'in') ? bounds.flatMap(showPoints) : [showRange(bounds)];
}

function showPoints(bound: Bound): string[] {
  const values = bound.op === 'in' ? bound.value : [bound.value];
  return values.map((value) => `[${show(value)}, ${show(value)}]`);
}

function showRange(bounds: Bound[]): string {
  let low = '[-inf.0';
  let high = 'inf.0]';
  for (const { op, value } of bounds) {
    if (op === 'gt' || op === 'gte') low = `${op === 'gt' ? '(' : '['}${show(value)}`;
    else if (op === 'lt' || op === 'lte') high = `${show(value)}${op === 'lt' ? ')' : ']'}`;
    else if (op === 'prefix') [low, high] = [`[${show(value)}`, '{})'];
  }
  return `${low}, ${high}`;
}

function show(value: unknown): string {
  if (value === EMPTY_ARRAY) return 'undefined';
  switch (typeName(value)) {
    case 'null':
      return 'null';
    case 'string':
      return JSON.stringify(value);
    case 'date':
      return `new Date(${(value as Date).getTime()})`;
    case 'objectId':
      return `ObjectId('${String(value)}')`;
    case 'object':
    case 'array':
      return JSON.stringify(value);
    default:
      return String(value);
  }
}
