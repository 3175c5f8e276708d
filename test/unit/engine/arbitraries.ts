import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'bson';
import fc from 'fast-check';
import type { Doc } from '../../../src/engine/query/types.ts';
import { anyText } from '../../support/any-text.ts';

/** Numbers of all four types, mostly near the values where they are hard to distinguish. */
export const bsonNumber: fc.Arbitrary<unknown> = fc.oneof(
  fc.integer({ min: -3, max: 3 }).map((n) => new Int32(n)),
  fc.integer().map((n) => new Int32(n)),
  fc.double().map((n) => new Double(n)),
  fc
    .constantFrom(0, -0, 0.1, 0.5, 2 ** 53, -(2 ** 53), 2 ** 63, Number.MAX_VALUE, Number.MIN_VALUE)
    .map((n) => new Double(n)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => Long.fromBigInt(n)),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map((n) => Long.fromBigInt(n)),
  fc.bigInt({ min: -3n, max: 3n }).map((n) => Long.fromBigInt(n)),
  fc
    .tuple(fc.bigInt({ min: -(10n ** 34n) + 1n, max: 10n ** 34n - 1n }), fc.integer({ min: -6176, max: 6111 }))
    .map(([coefficient, exponent]) => Decimal128.fromString(`${coefficient}E${exponent}`)),
  fc
    .constantFrom(
      '0',
      '-0',
      '0.1',
      '0.10',
      '0.5',
      '1',
      '1.0',
      '9007199254740993',
      '9223372036854775807',
      '1E400',
      '-1E400',
      '1E-400',
      'NaN',
      'Infinity',
      '-Infinity',
    )
    .map((text) => Decimal128.fromString(text)),
);

const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('', 'a', 'ab', 'b', 'a\0', 'a\0b', '\uffff', '\u{10000}', 'é'),
  anyText({ maxLength: 6 }).filter((value) => value.isWellFormed()),
);

const bytes = fc.uint8Array({ maxLength: 5 });

/** A value of any type except documents and arrays. */
export const scalar: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: bsonNumber },
  { weight: 3, arbitrary: text },
  fc.constant(null),
  fc.boolean(),
  fc.constantFrom(new MinKey(), new MaxKey()),
  fc.date({ noInvalidDate: true }),
  fc.tuple(bytes, fc.constantFrom(0, 4, 128)).map(([value, subtype]) => new Binary(value, subtype)),
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((id) => new ObjectId(id)),
  fc.tuple(fc.nat(), fc.nat()).map(([t, i]) => new Timestamp({ t, i })),
  fc.constantFrom(new BSONRegExp('a', ''), new BSONRegExp('a', 'i'), new BSONRegExp('b', '')),
  text.map((value) => new BSONSymbol(value)),
  fc.constantFrom(new Code('f'), new Code('f', { a: new Int32(1) }), new Code('g')),
);

/**
 * Field names without `$`, without dots and not integer-like, because a JS object would not keep the order of those.
 */
const fieldName: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'c', 'ab', 'x');

/** Any value; containers are nested a few levels deep. */
export const value: fc.Arbitrary<unknown> = fc.letrec<{ any: unknown; doc: Doc; list: unknown[] }>((tie) => ({
  any: fc.oneof({ maxDepth: 3, withCrossShrink: true }, { weight: 6, arbitrary: scalar }, tie('doc'), tie('list')),
  doc: fc.dictionary(fieldName, tie('any'), { maxKeys: 3, noNullPrototype: true }),
  list: fc.array(tie('any'), { maxLength: 3 }),
})).any;

export const doc: fc.Arbitrary<Doc> = fc.dictionary(fieldName, value, { maxKeys: 4, noNullPrototype: true });

/** Few distinct values, so that filters often match documents. */
export const smallValue: fc.Arbitrary<unknown> = fc.letrec<{
  any: unknown;
  scalar: unknown;
  doc: Doc;
  list: unknown[];
}>((tie) => ({
  any: fc.oneof({ maxDepth: 3, withCrossShrink: true }, { weight: 5, arbitrary: tie('scalar') }, tie('doc'), {
    weight: 2,
    arbitrary: tie('list'),
  }),
  scalar: fc.constantFrom<unknown>(
    null,
    new Int32(1),
    new Double(1),
    Long.fromNumber(2),
    new Int32(3),
    new Double(Number.NaN),
    Decimal128.fromString('2.5'),
    'x',
    'xy',
    true,
  ),
  doc: fc.dictionary(fc.constantFrom('a', 'b'), tie('any'), { maxKeys: 2, noNullPrototype: true }),
  list: fc.array(tie('any'), { maxLength: 3 }),
})).any;

export const smallDoc: fc.Arbitrary<Doc> = fc.dictionary(fc.constantFrom('a', 'b'), smallValue, {
  maxKeys: 2,
  noNullPrototype: true,
});

const path = fc.constantFrom('a', 'b', 'a.b', 'b.a', 'a.a', 'a.0', 'a.b.a', 'a.1.b');

const predicate: fc.Arbitrary<Doc> = fc.letrec<{ one: Doc }>((tie) => ({
  one: fc.oneof(
    { maxDepth: 1 },
    fc
      .tuple(fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte', '$ne'), smallValue)
      .map(([op, operand]) => ({ [op]: operand })),
    fc.array(smallValue, { maxLength: 3 }).map((list) => ({ $in: list })),
    fc.array(smallValue, { maxLength: 2 }).map((list) => ({ $nin: list })),
    fc.array(smallValue, { minLength: 1, maxLength: 2 }).map((list) => ({ $all: list })),
    fc.boolean().map((exists) => ({ $exists: exists })),
    fc.constantFrom('number', 'string', 'array', 'object', 'null').map((type) => ({ $type: type })),
    fc.nat(2).map((size) => ({ $size: new Int32(size) })),
    fc.constantFrom('^x', 'y$', 'x').map((regex) => ({ $regex: regex })),
    fc.constant({ $mod: [new Int32(2), new Int32(1)] }),
    tie('one').map((inner) => ({ $not: inner })),
    tie('one').map((inner) => ({ $elemMatch: inner })),
    fc.tuple(fc.constantFrom('a', 'b'), tie('one')).map(([name, inner]) => ({ $elemMatch: { [name]: inner } })),
  ),
})).one;

const clause: fc.Arbitrary<Doc> = fc.oneof(
  fc.tuple(path, predicate).map(([name, test]) => ({ [name]: test })),
  fc.tuple(path, smallValue).map(([name, operand]) => ({ [name]: { $eq: operand } })),
);

/** Filters over the paths and values of `smallDoc`. */
export const filter: fc.Arbitrary<Doc> = fc.oneof(
  { weight: 3, arbitrary: clause },
  fc.array(clause, { minLength: 1, maxLength: 2 }).map((clauses) => ({ $and: clauses })),
  fc.array(clause, { minLength: 1, maxLength: 2 }).map((clauses) => ({ $or: clauses })),
  fc.array(clause, { minLength: 1, maxLength: 2 }).map((clauses) => ({ $nor: clauses })),
);

const updatePath = fc.constantFrom('a', 'b', 'a.b', 'b.a', 'a.0', 'a.1.b', 'a.$[]', 'a.$[].b', 'a.$[i]');
const updateNumber = fc.constantFrom<unknown>(
  new Int32(1),
  new Int32(2147483647),
  new Double(1.5),
  Long.fromNumber(3),
  Decimal128.fromString('0.1'),
);
const pushClauses = fc
  .tuple(fc.array(smallValue, { maxLength: 2 }), fc.integer({ min: -2, max: 2 }), fc.integer({ min: -2, max: 2 }))
  .map(([$each, $position, $slice]) => ({ $each, $position, $slice }));

const operation: fc.Arbitrary<[operator: string, path: string, operand: unknown]> = fc.oneof(
  fc.tuple(fc.constantFrom('$set', '$min', '$max', '$push', '$addToSet', '$pull'), updatePath, smallValue),
  fc.tuple(fc.constantFrom('$inc', '$mul'), updatePath, updateNumber),
  fc.tuple(fc.constant('$unset'), updatePath, fc.constant('')),
  fc.tuple(fc.constant('$pop'), updatePath, fc.constantFrom(1, -1)),
  fc.tuple(fc.constant('$push'), updatePath, pushClauses),
  fc.tuple(fc.constant('$rename'), fc.constantFrom('a', 'a.b'), fc.constantFrom('c', 'b.c')),
);

/** Updates on the paths of `smallDoc`; `$[i]` needs an array filter. Many conflict or do not fit a document. */
export const update: fc.Arbitrary<Doc> = fc.array(operation, { minLength: 1, maxLength: 3 }).map((operations) => {
  const made: Record<string, Doc> = {};
  for (const [operator, at, operand] of operations) made[operator] = { ...made[operator], [at]: operand };
  return made;
});
