import { compareValues, regexParts, stringOf, valuesEqual } from './compare.ts';
import { bitReader } from './filter-bits.ts';
import { type Leaf, type RegexLeaf, truncated } from './filter-parse.ts';
import { isNaNValue, isNumber } from './numbers.ts';
import { RANK, TYPE_NUMBERS, typeName, typeRank, wholeNumber } from './types.ts';

export type Test = (value: unknown) => boolean;

/** The leaves that test each value on its own. */
export type ValueLeaf = Exclude<Leaf, { op: 'elemObject' | 'elemValue' | 'size' }>;

/** Compiles a leaf to its test of a single value. */
export function leafTest(leaf: ValueLeaf): Test {
  switch (leaf.op) {
    case 'eq':
      return equalityTest(leaf.value);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return rangeTest(leaf.op, leaf.value);
    case 'in':
      return inTest(leaf.values, leaf.regexes);
    case 'regex':
      return regexTest(leaf);
    case 'exists':
      return (value) => value !== undefined;
    case 'type':
      return (value) => (leaf.number && isNumber(value)) || leaf.types.has(TYPE_NUMBERS[typeName(value)] ?? Number.NaN);
    case 'mod':
      return (value) => {
        if (!isNumber(value)) return false;
        const number = wholeNumber(value) ?? truncated(value);
        return number !== undefined && number % leaf.divisor === leaf.remainder;
      };
    default:
      return bitTest(leaf.op, leaf.positions);
  }
}

function equalityTest(expected: unknown): Test {
  if (expected === null) return (value) => value === undefined || value === null;
  if (typeof expected === 'boolean') return (value) => value === expected;
  const rank = typeRank(expected);
  return (value) => value === expected || (typeRank(value) === rank && valuesEqual(value, expected));
}

function rangeTest(op: 'gt' | 'gte' | 'lt' | 'lte', bound: unknown): Test {
  const rank = typeRank(bound);
  if (rank === RANK.null) return op === 'gte' || op === 'lte' ? equalityTest(null) : () => false;
  const holds = {
    gt: (order: number) => order > 0,
    gte: (order: number) => order >= 0,
    lt: (order: number) => order < 0,
    lte: (order: number) => order <= 0,
  }[op];
  if (rank === RANK.minKey || rank === RANK.maxKey) return (value) => holds(compareValues(value, bound));
  if (rank !== RANK.number) return (value) => typeRank(value) === rank && holds(compareValues(value, bound));
  const boundIsNaN = isNaNValue(bound);
  if (boundIsNaN) return op === 'gte' || op === 'lte' ? isNaNValue : () => false;
  return (value) => isNumber(value) && holds(compareValues(value, bound)) && !isNaNValue(value);
}

function inTest(values: unknown[], regexes: RegexLeaf[]): Test {
  const patterns = regexes.map(regexTest);
  if (values.every((value) => typeof value === 'string')) {
    const strings = new Set<unknown>(values);
    const others = (value: unknown) => patterns.some((test) => test(value));
    return (value) => strings.has(typeRank(value) === RANK.string ? stringOf(value) : value) || others(value);
  }
  const sorted = values.toSorted(compareValues);
  const withNull = sorted.includes(null);
  return (value) =>
    (value === undefined ? withNull : includesSorted(sorted, value)) || patterns.some((test) => test(value));
}

function includesSorted(sorted: unknown[], value: unknown): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = compareValues(sorted[middle], value);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

function regexTest({ regex, pattern, options }: RegexLeaf): Test {
  return (value) => {
    const rank = typeRank(value);
    if (rank === RANK.string) return regex.test(stringOf(value));
    if (rank !== RANK.regex) return false;
    const parts = regexParts(value);
    return parts.pattern === pattern && parts.options === options;
  };
}

function bitTest(op: string, positions: number[]): Test {
  return (value) => {
    const bit = bitReader(value);
    if (bit === undefined) return false;
    switch (op) {
      case 'bitsAllSet':
        return positions.every(bit);
      case 'bitsAllClear':
        return !positions.some(bit);
      case 'bitsAnySet':
        return positions.some(bit);
      default:
        return !positions.every(bit);
    }
  };
}
