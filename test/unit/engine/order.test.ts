import { Binary, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareBytes, compareValues, identical, valuesEqual } from '../../../src/engine/query/compare.ts';
import { compileIndex, EMPTY_ARRAY, encodeKey } from '../../../src/engine/query/keys.ts';
import { boundIntervals } from '../../../src/engine/query/match.ts';
import { isNaNValue } from '../../../src/engine/query/numbers.ts';
import { sampled } from '../../support/samples.ts';
import { bsonNumber, doc, value } from './arbitraries.ts';

const runs = { numRuns: sampled(3000) };

describe('the order of BSON values', () => {
  it('orders types canonically, missing below null', () => {
    const ascending = [
      new MinKey(),
      undefined,
      null,
      new Double(Number.NaN),
      new Double(Number.NEGATIVE_INFINITY),
      new Int32(-1),
      new Double(0),
      Decimal128.fromString('0.1'),
      new Double(0.1),
      new Int32(1),
      'a',
      'a\0',
      'ab',
      '\uffff',
      '\u{10000}',
      {},
      { a: new Int32(1) },
      { a: new Int32(1), b: null },
      { b: new Int32(1) },
      { a: 'x' },
      [],
      [null],
      [new Int32(1)],
      new Binary(new Uint8Array([9]), 0),
      new Binary(new Uint8Array([1]), 4),
      new Binary(new Uint8Array([0, 0]), 0),
      new ObjectId('000000000000000000000001'),
      false,
      true,
      new Date(-1),
      new Date(0),
      new Timestamp({ t: 1, i: 2 }),
      new Timestamp({ t: 4_000_000_000, i: 1 }),
      /a/,
      new MaxKey(),
    ];
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) expect([i, j, compareValues(a, b)]).toEqual([i, j, Math.sign(i - j)]);
    }
  });

  it('compares the four number types by their exact values', () => {
    const big = 9007199254740993n;
    expect(compareValues(Long.fromBigInt(big), new Double(9007199254740992))).toBe(1);
    expect(compareValues(Decimal128.fromString('9007199254740993'), Long.fromBigInt(big))).toBe(0);
    expect(compareValues(Decimal128.fromString('0.1'), new Double(0.1))).toBe(-1);
    expect(compareValues(Decimal128.fromString('0.5'), new Double(0.5))).toBe(0);
    expect(compareValues(new Double(-0), new Int32(0))).toBe(0);
    expect(compareValues(new Double(Number.NaN), Decimal128.fromString('NaN'))).toBe(0);
    expect(compareValues(Decimal128.fromString('1E400'), new Double(Number.POSITIVE_INFINITY))).toBe(-1);
    expect(compareValues(Long.MAX_VALUE, new Double(2 ** 63))).toBe(-1);
  });

  it('is a total order', () => {
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        expect(compareValues(a, a)).toBe(0);
        expect(compareValues(a, b)).toBe(-compareValues(b, a) || 0);
        if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) expect(compareValues(a, c)).toBeLessThanOrEqual(0);
      }),
      runs,
    );
  });

  it('is total over numbers that rounding would make equal', () => {
    fc.assert(
      fc.property(bsonNumber, bsonNumber, bsonNumber, (a, b, c) => {
        if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) expect(compareValues(a, c)).toBeLessThanOrEqual(0);
      }),
      runs,
    );
  });

  it('distinguishes identical values from equal ones', () => {
    expect(valuesEqual(new Int32(1), new Double(1))).toBe(true);
    expect(identical(new Int32(1), new Double(1))).toBe(false);
    expect(identical(Decimal128.fromString('1'), Decimal128.fromString('1.0'))).toBe(false);
    expect(identical(new Double(0), new Double(-0))).toBe(false);
    expect(identical({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toBe(true);
    expect(identical({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(false);
  });
});

describe('index keys', () => {
  const byKey = (a: unknown, b: unknown, direction: 1 | -1) =>
    compareBytes(encodeKey([a], [direction]), encodeKey([b], [direction]));

  it('sort like their values, in both directions', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(byKey(a, b, 1)).toBe(compareValues(a, b));
        expect(byKey(a, b, -1)).toBe(-compareValues(a, b) || 0);
      }),
      { numRuns: sampled(10_000) },
    );
  });

  it('sort numbers of all types exactly', () => {
    fc.assert(
      fc.property(bsonNumber, bsonNumber, (a, b) => {
        expect(byKey(a, b, 1)).toBe(compareValues(a, b));
      }),
      { numRuns: sampled(10_000) },
    );
  });

  it('sort compound values component by component', () => {
    fc.assert(
      fc.property(fc.tuple(value, value), fc.tuple(value, value), (a, b) => {
        const order = compareValues(a[0], b[0]) || -compareValues(a[1], b[1]);
        expect(compareBytes(encodeKey(a, [1, -1]), encodeKey(b, [1, -1]))).toBe(order || 0);
      }),
      runs,
    );
  });

  it('are self-delimiting: none is a prefix of another', () => {
    fc.assert(
      fc.property(value, value, fc.constantFrom(1 as const, -1 as const), (a, b, direction) => {
        const [x, y] = [encodeKey([a], [direction]), encodeKey([b], [direction])];
        if (compareBytes(x, y) !== 0) expect(Buffer.from(y).subarray(0, x.length).equals(x)).toBe(false);
      }),
      runs,
    );
  });

  it('sort an empty array below null, and missing with null', () => {
    expect(compareBytes(encodeKey([EMPTY_ARRAY], [1]), encodeKey([null], [1]))).toBe(-1);
    expect(compareBytes(encodeKey([undefined], [1]), encodeKey([null], [1]))).toBe(0);
    expect(compareBytes(encodeKey([EMPTY_ARRAY], [1]), encodeKey([new MinKey()], [1]))).toBe(1);
  });

  it('lie in the intervals of exactly the bounds that they satisfy', () => {
    const ops = ['eq', 'gt', 'gte', 'lt', 'lte'] as const;
    const holds = {
      eq: (o: number) => o === 0,
      gt: (o: number) => o > 0,
      gte: (o: number) => o >= 0,
      lt: (o: number) => o < 0,
      lte: (o: number) => o <= 0,
    };
    fc.assert(
      fc.property(
        bsonNumber,
        bsonNumber,
        fc.constantFrom(...ops),
        fc.constantFrom(1 as const, -1 as const),
        (x, bound, op, direction) => {
          const key = encodeKey([x], [direction]);
          const within = boundIntervals({ op, value: bound }, direction).some(
            ({ low, high }) => compareBytes(low, key) <= 0 && compareBytes(key, high) < 0,
          );
          // NaN sorts below all numbers, but `$lt` does not match it.
          const isLess = op === 'lt' || op === 'lte';
          const met = holds[op](compareValues(x, bound)) && !(isLess && isNaNValue(x) && !isNaNValue(bound));
          expect(within).toBe(met);
        },
      ),
      runs,
    );
  });
});

describe('the index entries of a document', () => {
  const keysOf = (document: Record<string, unknown>, ...fields: [string, 1 | -1][]) => compileIndex(fields)(document);
  const keys = (directions: (1 | -1)[], ...rows: unknown[][]) =>
    rows.map((row) => encodeKey(row, directions)).sort(compareBytes);

  it('have one key per array element', () => {
    expect(keysOf({ a: [3, 1, 3] }, ['a', 1])).toEqual({ keys: keys([1], [1], [3]), multikey: true, arrays: 1 });
    expect(keysOf({ a: [{ b: 1 }, { b: [2, 3] }, 4] }, ['a.b', 1]).keys).toEqual(keys([1], [1], [2], [3], [null]));
    expect(keysOf({ a: [[1, 2]] }, ['a', 1]).keys).toEqual(keys([1], [[1, 2]]));
  });

  it('use undefined for an empty array and null for a missing field', () => {
    expect(keysOf({ a: [] }, ['a', 1])).toEqual({ keys: keys([1], [EMPTY_ARRAY]), multikey: true, arrays: 1 });
    expect(keysOf({ a: [] }, ['a.b', 1]).keys).toEqual(keys([1], [null]));
    expect(keysOf({ b: 1 }, ['a', 1], ['c', -1])).toEqual({
      keys: keys([1, -1], [null, null]),
      multikey: false,
      arrays: 0,
    });
  });

  it.each<[Record<string, unknown>, unknown[][]]>([
    [{ b: 1 }, []],
    [{ a: [] }, []],
    [{ a: [{}, { y: 1 }, 2] }, []],
    [{ a: { x: null } }, [[null]]],
    [{ a: { x: [] } }, [[EMPTY_ARRAY]]],
    [{ a: [{ x: 1 }, {}] }, [[1]]],
    [{ a: [{ x: null }, {}] }, [[null]]],
  ])('omit what is missing if the index is sparse: %j by a.x', (document, expected) => {
    expect(compileIndex([['a.x', 1]], true)(document).keys).toEqual(keys([1], ...expected));
  });

  it('of a sparse index with several fields have each key in which one is present', () => {
    const keysOfBoth = compileIndex(
      [
        ['a.x', 1],
        ['b', 1],
      ],
      true,
    );
    expect(keysOfBoth({ a: [{ x: 1 }, {}] }).keys).toEqual(keys([1, 1], [1, null]));
    expect(keysOfBoth({ a: [{ x: 1 }, {}], b: 2 }).keys).toEqual(keys([1, 1], [1, 2], [null, 2]));
  });

  it('read array elements by position', () => {
    expect(keysOf({ a: [5, [6, 7]] }, ['a.1', 1]).keys).toEqual(keys([1], [[6, 7]]));
    expect(keysOf({ a: { 1: [6, 7] } }, ['a.1', 1]).keys).toEqual(keys([1], [6], [7]));
    expect(keysOf({ a: [5] }, ['a.3', 1]).keys).toEqual(keys([1], [null]));
    expect(() => keysOf({ a: [{ 0: 1 }] }, ['a.0', 1])).toThrow(expect.objectContaining({ code: 16746 }));
  });

  it('combine fields of one array, and refuse parallel arrays', () => {
    const entries = keysOf({ a: [{ b: 1, c: 2 }, { b: 3 }], d: 9 }, ['a.b', 1], ['d', 1], ['a.c', -1]);
    expect(entries.keys).toEqual(keys([1, 1, -1], [1, 9, 2], [3, 9, null]));
    expect(() => keysOf({ a: [1], b: [2] }, ['a', 1], ['b', 1])).toThrow(expect.objectContaining({ code: 171 }));
    const shared = [1, 2];
    expect(() => keysOf({ a: shared, b: shared }, ['a', 1], ['b', 1])).toThrow(expect.objectContaining({ code: 171 }));
  });

  it('are distinct and ascending', () => {
    fc.assert(
      fc.property(doc, fc.constantFrom('a', 'b', 'a.b', 'a.x'), (document, path) => {
        const { keys: found } = compileIndex([[path, 1]])(document);
        expect(found.length).toBeGreaterThan(0);
        for (let i = 1; i < found.length; i += 1) {
          expect(compareBytes(found[i - 1] as Uint8Array, found[i] as Uint8Array)).toBe(-1);
        }
      }),
      runs,
    );
  });
});
