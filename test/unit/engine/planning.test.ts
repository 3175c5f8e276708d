import { Int32 } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareBytes } from '../../../src/engine/query/compare.ts';
import { compileIndex, encodeKey } from '../../../src/engine/query/keys.ts';
import {
  analyzeBranches,
  analyzeFilter,
  type Bound,
  boundIntervals,
  compileFilter,
  impliesFilter,
} from '../../../src/engine/query/match.ts';
import type { Doc } from '../../../src/engine/query/types.ts';
import { sampled } from '../../support/samples.ts';
import { filter, smallDoc } from './arbitraries.ts';

/** Whether an index on the path has an entry of the document in the intervals of the bound. */
function reaches(doc: Doc, path: string, bound: Bound, direction: 1 | -1): boolean {
  let keys: Uint8Array[];
  try {
    keys = compileIndex([[path, direction]])(doc).keys;
  } catch {
    return true; // The document cannot be indexed.
  }
  return keys.some((key) =>
    boundIntervals(bound, direction).some(
      ({ low, high }) => compareBytes(low, key) <= 0 && compareBytes(key, high) < 0,
    ),
  );
}

describe('the bounds of a filter', () => {
  it('are found by path, also in $and and $elemMatch', () => {
    const bounds = analyzeFilter({
      a: 1,
      $and: [{ b: { $gt: 3, $lte: 9 } }],
      l: { $elemMatch: { x: 'y', z: { $ne: 1 } } },
      n: { $ne: 5 },
      t: /^ab+c/,
    });
    expect(Object.fromEntries(bounds)).toEqual({
      a: [{ op: 'eq', value: 1 }],
      b: [
        { op: 'gt', value: 3 },
        { op: 'lte', value: 9 },
      ],
      l: [{ op: 'exists', value: true }],
      'l.x': [{ op: 'eq', value: 'y' }],
      t: [expect.objectContaining({ op: 'prefix', value: 'ab' })],
    });
  });

  it('include the surrounding conjuncts for each branch of an $or', () => {
    expect(analyzeBranches({ a: 1 })).toBeUndefined();
    const branches = analyzeBranches({ a: 1, $or: [{ b: 2 }, { c: { $gt: 3 } }] });
    expect(branches?.map((branch) => [...branch.keys()])).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ]);
  });

  it('never lose a matching document: each bound contains one of its index entries', () => {
    let matched = 0;
    fc.assert(
      fc.property(
        filter,
        fc.array(smallDoc, { minLength: 5, maxLength: 5 }),
        fc.constantFrom(1 as const, -1 as const),
        (query, docs, direction) => {
          const matches = compileFilter(query);
          const bounds = analyzeFilter(query);
          for (const doc of docs.filter((candidate) => matches(candidate))) {
            matched += 1;
            for (const [path, list] of bounds) {
              for (const bound of list)
                expect([doc, path, bound, reaches(doc, path, bound, direction)]).toEqual([doc, path, bound, true]);
            }
          }
        },
      ),
      { numRuns: sampled(5000) },
    );
    expect(matched).toBeGreaterThan(sampled(1000));
  });

  it('never lose a document that matches a branch', () => {
    fc.assert(
      fc.property(filter, filter, smallDoc, (left, right, doc) => {
        const query = { $or: [left, right] };
        if (!compileFilter(query)(doc)) return;
        const branches = analyzeBranches(query) ?? [];
        const within = branches.some((branch) =>
          [...branch].every(([path, list]) => list.every((bound) => reaches(doc, path, bound, 1))),
        );
        expect(within).toBe(true);
      }),
      { numRuns: sampled(3000) },
    );
  });

  it('do not include null where an index reads a position and the matcher a field name', () => {
    expect(compileFilter({ 'a.0': null })({ a: [{ x: 1 }] })).toBe(true);
    expect(analyzeFilter({ 'a.0': null }).size).toBe(0);
  });

  it('find an array by the whole array and by its first element', () => {
    const [bound] = analyzeFilter({ a: [] }).get('a') as [Bound];
    const intervals = boundIntervals(bound, 1);
    for (const doc of [{ a: [] }, { a: [[]] }]) {
      const [key] = compileIndex([['a', 1]])(doc).keys as [Uint8Array];
      expect(intervals.some(({ low, high }) => compareBytes(low, key) <= 0 && compareBytes(key, high) < 0)).toBe(true);
    }
    const nothing = encodeKey([null], [1]);
    expect(intervals.some(({ low, high }) => compareBytes(low, nothing) <= 0 && compareBytes(nothing, high) < 0)).toBe(
      false,
    );
  });
});

describe('whether a partial index can be used for a query', () => {
  const exists = { k: { $exists: true } };

  it.each<[boolean, Doc, Doc]>([
    [true, { k: 'x' }, exists],
    [true, { k: { $gt: '' } }, exists],
    [true, { k: { $in: ['a', /b/] } }, exists],
    [true, { k: { $type: 'string' } }, exists],
    [false, { k: null }, exists],
    [false, { k: { $in: ['a', null] } }, exists],
    [false, { k: { $ne: null } }, exists],
    [false, { k: { $gte: null } }, exists],
    [false, { other: 1 }, exists],
    [false, { k: 'x' }, { k: { $type: 'string' } }],
    [true, { k: { $type: 'string' }, a: 1 }, { k: { $type: 'string' } }],
    [true, { k: { $gt: 6 } }, { k: { $gte: 5 } }],
    [true, { k: 5 }, { k: { $gte: 5 } }],
    [false, { k: { $gte: 5 } }, { k: { $gt: 5 } }],
    [false, { k: { $lt: 3 } }, { k: { $gt: 1 } }],
    [false, { k: { $gt: 'a' } }, { k: { $gt: 1 } }],
    [true, { k: 'b' }, { k: { $in: ['a', 'b'] } }],
    [false, { k: { $in: ['b', 'c'] } }, { k: { $in: ['a', 'b'] } }],
    [true, { s: 'open', n: 1 }, { s: 'open', n: { $exists: true } }],
    [false, { s: 'open' }, { s: 'open', n: { $exists: true } }],
    [true, { $or: [{ s: 'a' }, { s: 'b' }] }, { s: { $in: ['a', 'b'] } }],
    [false, { $or: [{ s: 'a' }, { n: 1 }] }, { s: { $in: ['a', 'b'] } }],
    [true, { s: 'a' }, { $or: [{ s: 'a' }, { n: 1 }] }],
    [true, {}, {}],
  ])('%s: %j implies %j', (expected, query, partial) => {
    expect(impliesFilter(query, partial)).toBe(expected);
  });

  it('is false for a query that matches a document outside the index', () => {
    let implied = 0;
    const pairs = fc.oneof(
      fc.tuple(filter, filter),
      fc.tuple(filter, filter).map(([a, b]): [Doc, Doc] => [{ $and: [a, b] }, b]),
      fc.tuple(filter, filter).map(([a, b]): [Doc, Doc] => [a, { $or: [a, b] }]),
      filter.map((a): [Doc, Doc] => [a, { a: { $exists: true } }]),
    );
    fc.assert(
      fc.property(pairs, fc.array(smallDoc, { minLength: 8, maxLength: 8 }), ([query, partial], docs) => {
        if (!impliesFilter(query, partial)) return;
        implied += 1;
        const [inQuery, inIndex] = [compileFilter(query), compileFilter(partial)];
        for (const doc of docs) if (inQuery(doc)) expect([doc, inIndex(doc)]).toEqual([doc, true]);
      }),
      { numRuns: sampled(6000) },
    );
    expect(implied).toBeGreaterThan(sampled(500));
  });

  it('compares numbers by value, whatever their type', () => {
    expect(impliesFilter({ k: new Int32(5) }, { k: 5 })).toBe(true);
  });

  it('is found once for a query, however often it is asked', () => {
    let parsed = 0;
    const query = {
      get $or() {
        parsed++;
        return [{ k: 1 }, { k: 2 }];
      },
    };
    const partials = [{ k: { $gt: 0 } }, { k: { $gt: 1 } }];
    for (let n = 0; n < 3; n++) expect(partials.map((each) => impliesFilter(query, each))).toEqual([true, false]);
    expect(parsed).toBe(2);
  });
});
