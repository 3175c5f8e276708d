import { Decimal128, Double, Int32, Long } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePipeline, type PipelineEnv, runPipeline } from '../../../src/engine/query/aggregate.ts';
import { addNumbers, multiplyNumbers } from '../../../src/engine/query/arithmetic.ts';
import { compareValues } from '../../../src/engine/query/compare.ts';
import { evaluateLet } from '../../../src/engine/query/expression.ts';
import { compileFilter, matchedArrayIndex } from '../../../src/engine/query/match.ts';
import { MemoryBudget } from '../../../src/engine/query/memory-budget.ts';
import { withoutPauses } from '../../../src/engine/query/pause.ts';
import { compileProjection } from '../../../src/engine/query/projection.ts';
import { compileRegex, literalPrefix } from '../../../src/engine/query/regex.ts';
import type { Doc } from '../../../src/engine/query/types.ts';
import { compileUpdate } from '../../../src/engine/query/update.ts';
import { bsonNumber } from './arbitraries.ts';

const alone: PipelineEnv = { lookup: () => [] };

describe('arithmetic', () => {
  it('widens types as MongoDB does, and reports int64 overflow', () => {
    expect(addNumbers(new Int32(2147483647), new Int32(1))).toEqual(Long.fromNumber(2147483648));
    expect(addNumbers(Long.MAX_VALUE, new Int32(1))).toBeUndefined();
    expect(addNumbers(Long.MAX_VALUE, new Double(1))).toEqual(new Double(2 ** 63));
    expect(multiplyNumbers(new Int32(65536), new Int32(65536))).toEqual(Long.fromNumber(4294967296));
    expect(addNumbers(Decimal128.fromString('0.1'), Decimal128.fromString('0.20'))).toEqual(
      Decimal128.fromString('0.30'),
    );
    expect(addNumbers(Decimal128.fromString('1E+33'), Decimal128.fromString('0.5'))).toEqual(
      Decimal128.fromString('1000000000000000000000000000000000'),
    );
    expect(addNumbers(new Double(0.1), Decimal128.fromString('0'))).toEqual(Decimal128.fromString('0.100000000000000'));
  });

  it('addition is commutative, and adding zero returns the number', () => {
    fc.assert(
      fc.property(bsonNumber, bsonNumber, (a, b) => {
        const [x, y] = [addNumbers(a, b), addNumbers(b, a)];
        expect(x === undefined ? y : compareValues(x, y)).toBe(x === undefined ? undefined : 0);
        expect(compareValues(addNumbers(a, new Int32(0)), a)).toBe(0);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('regular expressions match as in PCRE', () => {
  it.each<[string, string, string, boolean]>([
    ['a$', '', 'a\n', true],
    ['a\\z', '', 'a\n', false],
    ['a\\Z', '', 'a\n', true],
    ['\\Ab', 'm', 'a\nb', false],
    ['^b', 'm', 'a\nb', true],
    ['a.c', '', 'a\nc', false],
    ['a.c', 's', 'a\nc', true],
    ['a.c', '', 'a\rc', true],
    ['\\s', '', '\u00a0', false],
    ['\\h', '', '\u00a0', true],
    ['(?i)AB', '', 'ab', true],
    ['[[:alpha:]]+$', '', 'abc', true],
    ['[]a]', '', ']', true],
    ['\\Qa.b\\E', '', 'axb', false],
    ['\\Qa.b\\E', '', 'a.b', true],
    ['a b # comment', 'x', 'ab', true],
    ['a\\-b', '', 'a-b', true],
    ['^.$', '', '\u{1f600}', true],
    ['a{,2}', '', 'a{,2}', true],
    ['(?P<n>a)', '', 'a', true],
    ['a/b', '', 'a/b', true],
    ['é', 'i', 'É', true],
  ])('/%s/%s on %j: %s', (pattern, options, text, expected) => {
    expect(compileRegex(pattern, options).test(text)).toBe(expected);
  });

  it.each(['(?>a)', 'a++', '\\G', '(', '[a', '\\'])('%s is refused', (pattern) => {
    expect(() => compileRegex(pattern, '')).toThrow(expect.objectContaining({ code: 51091 }));
  });

  it.each([
    ['^abc', '', 'abc'],
    ['^ab?', '', 'a'],
    ['^ab*c', '', 'a'],
    ['^ab+', '', 'ab'],
    ['^a\\.b', '', 'a.b'],
    ['^a.b', '', 'a'],
    ['^a|b', '', ''],
    ['abc', '', ''],
    ['^abc', 'i', ''],
    ['^a\\d', '', 'a'],
  ])('every match of /%s/%s starts with %j', (pattern, options, prefix) => {
    expect(literalPrefix(pattern, options)).toBe(prefix);
  });
});

describe('matching', () => {
  it('reports which element of the outermost array matched', () => {
    expect(matchedArrayIndex({ 'l.x': 2 }, { l: [{ x: 1 }, { x: 2 }] })).toBe(1);
    expect(matchedArrayIndex({ l: { $elemMatch: { $gt: 1 } } }, { l: [0, 1, 2] })).toBe(2);
    expect(matchedArrayIndex({ 'l.m.x': 2 }, { l: [{ m: [{ x: 1 }] }, { m: [{ x: 5 }, { x: 2 }] }] })).toBe(1);
    expect(matchedArrayIndex({ a: 1 }, { a: 1 })).toBeUndefined();
    expect(matchedArrayIndex({ a: 1 }, { a: [2] })).toBeUndefined();
  });

  it('does not mistake an inherited name for a field', () => {
    expect(compileFilter({ constructor: { $exists: true } })({})).toBe(false);
    expect(compileFilter({ 'a.toString': null })({ a: {} })).toBe(true);
  });
});

describe('pipelines', () => {
  it('read no more documents than they need', () => {
    let read = 0;
    function* endless(): Generator<Doc> {
      for (;;) yield { _id: read++ };
    }
    const found = [...withoutPauses(runPipeline([{ $match: { _id: { $gte: 2 } } }, { $limit: 2 }], endless(), alone))];
    expect(found).toEqual([{ _id: 2 }, { _id: 3 }]);
    expect(read).toBe(4);
  });

  it('are validated before anything is read', () => {
    const untouchable = {
      [Symbol.iterator]: () => {
        throw new Error('read');
      },
    };
    expect(() => runPipeline([{ $match: {} }, { $foo: 1 }], untouchable, alone)).toThrow(
      expect.objectContaining({ code: 40324 }),
    );
    expect(() => compilePipeline([{ $lookup: { from: 'x', pipeline: [{ $foo: 1 }], as: 'y' } }])).toThrow(
      expect.objectContaining({ code: 40324 }),
    );
  });

  it('do not modify their documents', () => {
    const doc = Object.freeze({ _id: 1, a: Object.freeze({ b: 1 }), l: Object.freeze([Object.freeze({ x: 1 })]) });
    const stages = [
      { $set: { 'a.c': 2, 'l.y': 3 } },
      { $unset: 'a.b' },
      { $project: { a: 1, l: 1, z: '$a.c' } },
      { $unwind: '$l' },
    ];
    expect([...withoutPauses(runPipeline(stages, [doc], alone))]).toEqual([
      { _id: 1, a: { c: 2 }, l: { x: 1, y: 3 }, z: 2 },
    ]);
  });

  it('a sort before a limit keeps only the documents of the limit, and the right ones', () => {
    const docs = Array.from({ length: 500 }, (_, _id): Doc => ({ _id, k: (_id * 7919) % 50 }));
    const sorted = [...withoutPauses(runPipeline([{ $sort: { k: 1 } }], docs, alone))];
    expect([...withoutPauses(runPipeline([{ $sort: { k: 1 } }, { $limit: 7 }], docs, alone))]).toEqual(
      sorted.slice(0, 7),
    );
    expect(() => runPipeline([{ $sort: { k: 1 } }, { $limit: 0 }], docs, alone)).toThrow(
      expect.objectContaining({ code: 15958 }),
    );
    expect(() => runPipeline([{ $sort: { k: 1 } }, { $limit: -1 }], docs, alone)).toThrow(
      expect.objectContaining({ code: 5107201 }),
    );
  });

  it('refuse to exceed the memory limit of a stage', () => {
    const budget = new MemoryBudget('$sort', 100);
    const doc = { _id: 'x'.repeat(40) };
    budget.take(doc);
    budget.release(doc);
    budget.take(doc);
    expect(() => budget.take(doc)).toThrow(expect.objectContaining({ code: 292 }));
  });

  describe('of groups', () => {
    const text = 'x'.repeat(1024 * 1024);
    const grouped = (accumulator: Doc, docs: Iterable<Doc>): Doc[] => [
      ...withoutPauses(runPipeline([{ $group: { _id: '$group', kept: accumulator } }], docs, alone)),
    ];
    const docs = (count: number, made: (n: number) => Doc): Doc[] => Array.from({ length: count }, (_, n) => made(n));
    const apart = docs(120, (n) => ({ group: new Int32(n), n: new Int32(n), text }));
    const together = docs(120, (n) => ({ group: null, n: new Int32(n), text }));
    const exceeded = expect.objectContaining({ code: 292 });

    it.each(['$first', '$last', '$min', '$max', '$mergeObjects', '$push', '$addToSet'])(
      'count what %s keeps',
      (name) => {
        expect(() => grouped({ [name]: '$$ROOT' }, apart)).toThrow(exceeded);
      },
    );

    it.each(['$first', '$last', '$min', '$max', '$mergeObjects'])('do not count what %s has replaced', (name) => {
      const [found] = grouped({ [name]: '$$ROOT' }, together);
      expect(found).toMatchObject({ kept: { text } });
    });

    it('count the different fields that $mergeObjects collects', () => {
      const fields = docs(120, (n) => ({ group: null, kept: { [`f${n}`]: text } }));
      expect(() => grouped({ $mergeObjects: '$kept' }, fields)).toThrow(exceeded);
    });

    it('count equal values of $addToSet once', () => {
      expect(grouped({ $addToSet: '$text' }, together)).toEqual([{ _id: null, kept: [text] }]);
      expect(() => grouped({ $addToSet: '$$ROOT' }, together)).toThrow(exceeded);
    });
  });

  it('have the variables of let, which cannot read a document', () => {
    const variables = evaluateLet({ low: { $add: [new Int32(1), new Int32(1)] }, none: '$$REMOVE' });
    expect(variables).toEqual({ low: new Int32(2), none: null });
    const stages = [{ $match: { $expr: { $gt: ['$_id', '$$low'] } } }, { $project: { low: '$$low' } }];
    const found = [...withoutPauses(runPipeline(stages, [{ _id: 1 }, { _id: 3 }], { ...alone, variables }))];
    expect(found).toEqual([{ _id: 3, low: new Int32(2) }]);
    expect(compileFilter({ $expr: { $eq: ['$a', '$$low'] } }, variables)({ a: 2 })).toBe(true);
    expect(compileProjection({ x: '$$low' }, { variables })({ _id: 1 })).toEqual({ _id: 1, x: new Int32(2) });
    const updated = compileUpdate([{ $set: { x: '$$low' } }], { variables })({ _id: 1 }, { insert: false });
    expect(updated.doc).toEqual({ _id: 1, x: new Int32(2) });
    expect(() => evaluateLet({ a: '$field' })).toThrow(expect.objectContaining({ code: 4890500 }));
    expect(() => evaluateLet({ A: 1 })).toThrow(expect.objectContaining({ code: 9 }));
  });

  it('a $lookup uses the leading $match of its pipeline as the query', () => {
    const asked: Doc[] = [];
    const env: PipelineEnv = {
      lookup: (collection, filter) => {
        asked.push({ collection, filter });
        return [];
      },
    };
    const pipeline = [{ $match: { open: true } }, { $limit: 1 }];
    const stages = [{ $lookup: { from: 'o', localField: 'k', foreignField: 'f', pipeline, as: 'r' } }];
    expect([...withoutPauses(runPipeline(stages, [{ _id: 1, k: 'x' }], env))]).toEqual([{ _id: 1, k: 'x', r: [] }]);
    expect(asked).toEqual([{ collection: 'o', filter: { $and: [{ f: { $eq: 'x' } }, { open: true }] } }]);
  });
});
