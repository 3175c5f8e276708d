import { BSONSymbol, Double, Int32, Long } from 'bson';
import { compareValues } from './compare.ts';
import { divide } from './expression-arithmetic.ts';
import { mergeObjects } from './expression-documents.ts';
import { type Operator, operator } from './expression-types.ts';
import { encodeKey } from './key-encoding.ts';
import { keptBytes, type MemoryBudget } from './memory-budget.ts';
import { addDecimals, type Decimal, doubleToDecimal, encodeDecimal, exact, isNumber, toDouble } from './numbers.ts';
import { asDoc, type Doc, getField, typeName } from './types.ts';

/** Accumulates the values of one group. An undefined `result` is returned to clients as null. */
export interface Accumulator {
  add(value: unknown): void;
  result(): unknown;
}

/**
 * The accumulators by name. The budget, if given, counts the bytes that an accumulator keeps. Expressions give none,
 * because their values are in memory anyway.
 */
export const ACCUMULATORS: Readonly<Record<string, (budget?: MemoryBudget) => Accumulator>> = {
  $sum: () => new Sum(),
  $avg: () => new Average(),
  $min: (budget) => new Extreme(-1, budget),
  $max: (budget) => new Extreme(1, budget),
  $first: (budget) => new End('first', budget),
  $last: (budget) => new End('last', budget),
  $push: (budget) => new Push(budget),
  $addToSet: (budget) => new AddToSet(budget),
  $mergeObjects: (budget) => new Merge(budget),
  $stdDevPop: () => new Deviation(0),
  $stdDevSamp: () => new Deviation(1),
};

/**
 * The accumulators that are also expressions: over the elements of a single array operand, or over several operands.
 */
export const ACCUMULATING: Readonly<Record<string, Operator>> = Object.fromEntries(
  ['$sum', '$avg', '$min', '$max', '$stdDevPop', '$stdDevSamp'].map((name) => [
    name,
    operator(0, Number.POSITIVE_INFINITY, (values) => {
      const accumulator = (ACCUMULATORS[name] as (typeof ACCUMULATORS)[string])();
      const [only] = values;
      for (const value of values.length === 1 && Array.isArray(only) ? only : values) accumulator.add(value);
      return accumulator.result() ?? null;
    }),
  ]),
);

/**
 * Sums with MongoDB's types: ints give an int, or a long beyond int32; longs give a long, or a double beyond int64;
 * doubles use compensated summation; any decimal makes the sum a decimal. Values that are not numbers are ignored.
 */
class Sum implements Accumulator {
  private whole = 0n;
  private small = 0;
  private double = 0;
  private compensation = 0;
  private decimal: Decimal | undefined;
  private sawLong = false;
  private sawDouble = false;

  add(value: unknown): void {
    if (!isNumber(value)) return;
    const number = exact(value);
    switch (typeName(value)) {
      case 'int':
        this.small += number as number;
        if (Math.abs(this.small) > 2 ** 50) this.settle();
        break;
      case 'long':
        this.sawLong = true;
        this.whole += number as bigint;
        break;
      case 'double':
        this.sawDouble = true;
        this.addDouble(number as number);
        break;
      default:
        this.decimal = addDecimals(this.decimal ?? { coefficient: 0n, exponent: 0 }, number as Decimal);
    }
  }

  private settle(): void {
    this.whole += BigInt(this.small);
    this.small = 0;
  }

  /** Neumaier summation: accumulates the rounding errors separately. */
  private addDouble(value: number): void {
    const sum = this.double + value;
    if (Number.isFinite(sum)) {
      this.compensation +=
        Math.abs(this.double) >= Math.abs(value) ? this.double - sum + value : value - sum + this.double;
    }
    this.double = sum;
  }

  result(): unknown {
    this.settle();
    if (this.decimal !== undefined) {
      const whole = addDecimals(this.decimal, { coefficient: this.whole, exponent: 0 });
      return encodeDecimal(
        this.sawDouble ? addDecimals(whole, doubleToDecimal(this.double + this.compensation)) : whole,
      );
    }
    if (this.sawDouble) return new Double(this.double + (Number(this.whole) + this.compensation));
    if (!this.sawLong && BigInt.asIntN(32, this.whole) === this.whole) return new Int32(Number(this.whole));
    return BigInt.asIntN(64, this.whole) === this.whole ? Long.fromBigInt(this.whole) : new Double(Number(this.whole));
  }
}

class Average implements Accumulator {
  private readonly sum = new Sum();
  private count = 0;

  add(value: unknown): void {
    if (!isNumber(value)) return;
    this.sum.add(value);
    this.count += 1;
  }

  result(): unknown {
    return this.count === 0 ? null : divide(this.sum.result(), new Int32(this.count));
  }
}

/** Keeps one value, which may be replaced. The budget counts the bytes of the current value. */
class Kept {
  value: unknown;
  readonly #budget: MemoryBudget | undefined;
  #bytes = 0;

  constructor(budget: MemoryBudget | undefined) {
    this.#budget = budget;
  }

  set(value: unknown): void {
    this.value = value;
    if (this.#budget === undefined) return;
    const bytes = keptBytes(value);
    this.#budget.change(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}

class Extreme implements Accumulator {
  private readonly sign: 1 | -1;
  private readonly kept: Kept;

  constructor(sign: 1 | -1, budget: MemoryBudget | undefined) {
    this.sign = sign;
    this.kept = new Kept(budget);
  }

  add(value: unknown): void {
    if (value === null || value === undefined) return;
    const { value: most } = this.kept;
    if (most === undefined || Math.sign(compareValues(value, most)) === this.sign) this.kept.set(value);
  }

  result(): unknown {
    return this.kept.value;
  }
}

class End implements Accumulator {
  private readonly which: 'first' | 'last';
  private readonly kept: Kept;
  private seen = false;

  constructor(which: 'first' | 'last', budget: MemoryBudget | undefined) {
    this.which = which;
    this.kept = new Kept(budget);
  }

  add(value: unknown): void {
    if (this.which === 'last' || !this.seen) this.kept.set(value);
    this.seen = true;
  }

  result(): unknown {
    return this.kept.value;
  }
}

class Push implements Accumulator {
  private readonly values: unknown[] = [];
  private readonly budget: MemoryBudget | undefined;

  constructor(budget: MemoryBudget | undefined) {
    this.budget = budget;
  }

  add(value: unknown): void {
    if (value === undefined) return;
    this.budget?.change(keptBytes(value));
    this.values.push(value);
  }

  result(): unknown {
    return this.values;
  }
}

class AddToSet implements Accumulator {
  private readonly values = new Map<string, unknown>();
  private readonly budget: MemoryBudget | undefined;

  constructor(budget: MemoryBudget | undefined) {
    this.budget = budget;
  }

  add(value: unknown): void {
    if (value === undefined) return;
    const key = keyText(value);
    if (this.values.has(key)) return;
    this.budget?.change(keptBytes(value));
    this.values.set(key, value);
  }

  result(): unknown {
    return [...this.values.values()];
  }
}

class Merge implements Accumulator {
  private merged: Doc = {};
  private readonly budget: MemoryBudget | undefined;

  constructor(budget: MemoryBudget | undefined) {
    this.budget = budget;
  }

  add(value: unknown): void {
    const before = this.merged;
    this.merged = mergeObjects([before, value]);
    for (const field of Object.keys(asDoc(value) ?? {}))
      this.budget?.change(fieldBytes(this.merged, field) - fieldBytes(before, field));
  }

  result(): unknown {
    return this.merged;
  }
}

function fieldBytes(doc: Doc, field: string): number {
  return Object.hasOwn(doc, field) ? field.length + keptBytes(getField(doc, field)) : 0;
}

/** Welford's algorithm. `correction` is 0 for a population, 1 for a sample. */
class Deviation implements Accumulator {
  private readonly correction: 0 | 1;
  private count = 0;
  private mean = 0;
  private squares = 0;

  constructor(correction: 0 | 1) {
    this.correction = correction;
  }

  add(value: unknown): void {
    if (!isNumber(value)) return;
    const number = toDouble(value);
    this.count += 1;
    const distance = number - this.mean;
    this.mean += distance / this.count;
    this.squares += distance * (number - this.mean);
  }

  result(): unknown {
    return this.count <= this.correction ? null : new Double(Math.sqrt(this.squares / (this.count - this.correction)));
  }
}

/** A string that two values share exactly if they are equal. */
export function keyText(value: unknown): string {
  // No type byte of an encoded key is the letter `s`, so this short form for strings cannot collide with a key.
  return typeof value === 'string' || value instanceof BSONSymbol
    ? `s${value}`
    : Buffer.from(encodeKey([value], [1])).toString('latin1');
}
