import { EMPTY_ARRAY } from '../query/keys.ts';
import { type Bound, boundIntervals, type Interval } from '../query/match.ts';
import { typeName } from '../query/types.ts';
import type { Index } from './catalog.ts';

/** A stretch of an index: keys from `low` (included) to `high` (excluded), in byte order. */
export interface KeyRange extends Interval {
  /** Leading bytes that are the same in all keys of the range: what follows them orders the range. */
  prefix: number;
}

/** What a filter lets an index skip. */
export interface IndexBounds {
  ranges: KeyRange[];
  /** How many leading fields are bound to single values, and how many of those, from the first on, to exactly one. */
  points: number;
  constants: number;
  /** The field after those has a range with one or two ends. */
  rangeEnds: 0 | 1 | 2;
  /** Per field, as explain shows it. */
  shown: () => Record<string, string[]>;
}

/** A way to documents: the stretches of an index that hold all that may match. */
export interface IndexScan {
  kind: 'IXSCAN';
  index: Index;
  bounds: IndexBounds;
  reverse: boolean;
  /** The order asked for needs the ranges merged, since each is in order by itself only. */
  merge: boolean;
}

const MAX_RANGES = 100_000;
const EVERYTHING: Interval = { low: new Uint8Array(), high: Uint8Array.of(0xff, 0xff) };

/** The stretches of `index` that hold every document matching the filter that `bounds` come from. */
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
  for (const [path, direction] of index.fields) {
    const head = path.split('.', 1)[0] as string;
    // Two fields of one array may be met by different elements, so only the first is bound.
    const own = index.multikey && heads.has(head) ? [] : chosen(bounds.get(path) ?? [], index.multikey);
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
      break;
    }
    if (intervals.length <= 1 && found.constants === found.points) found.constants++;
    found.points++;
    prefixes = found.ranges.map(({ low }) => low);
  }
  found.ranges.sort((a, b) => Buffer.compare(a.low, b.low));
  return found;
}

/** The bounds to use together: all of them, or of a multikey index one, as different elements may meet different ones. */
function chosen(bounds: Bound[], multikey: boolean): Bound[] {
  const ends = bounds.filter(({ op }) => op !== 'exists');
  if (!multikey) return ends;
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

function joined(prefix: Uint8Array, rest: Uint8Array): Uint8Array {
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
