import { Int32 } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identical } from '../../../src/engine/query/compare.ts';
import { type Doc, isDoc } from '../../../src/engine/query/types.ts';
import { compileUpdate, isReplacement, type UpdateDescription, upsertBase } from '../../../src/engine/query/update.ts';
import { sampled } from '../../support/samples.ts';
import { smallDoc, update } from './arbitraries.ts';

const apply = (update: Doc | Doc[], doc: Doc, context = {}, arrayFilters?: Doc[]) =>
  compileUpdate(update, { arrayFilters })(doc, { insert: false, ...context });

describe('the update description', () => {
  it.each<[string, Doc | Doc[], Doc, Partial<UpdateDescription>]>([
    ['a push onto an array', { $push: { l: 3 } }, { l: [1, 2] }, { updatedFields: { 'l.2': 3 } }],
    ['a push onto nothing', { $push: { l: 3 } }, {}, { updatedFields: { l: [3] } }],
    [
      'several pushes',
      { $push: { 'a.l': { $each: [3, 4] } } },
      { a: { l: [1] } },
      { updatedFields: { 'a.l.1': 3, 'a.l.2': 4 } },
    ],
    ['a push in front', { $push: { l: { $each: [0], $position: 0 } } }, { l: [1] }, { updatedFields: { l: [0, 1] } }],
    ['a push that cuts', { $push: { l: { $each: [3], $slice: -2 } } }, { l: [1, 2] }, { updatedFields: { l: [2, 3] } }],
    ['a pull', { $pull: { l: 1 } }, { l: [1, 2] }, { updatedFields: { l: [2] } }],
    ['a new nested field', { $set: { 'a.b.c': 1 } }, { a: {} }, { updatedFields: { 'a.b': { c: 1 } } }],
    ['a field within an array', { $set: { 'l.1.x': 1 } }, { l: [0, { y: 2 }] }, { updatedFields: { 'l.1.x': 1 } }],
    [
      'a removal',
      { $unset: { 'a.b': '' }, $set: { c: 1 } },
      { a: { b: 1 } },
      { updatedFields: { c: 1 }, removedFields: ['a.b'] },
    ],
    ['a rename', { $rename: { a: 'b' } }, { a: 1 }, { updatedFields: { b: 1 }, removedFields: ['a'] }],
    ['nothing for what stays', { $set: { a: 1, b: 2 } }, { a: 1, b: 1 }, { updatedFields: { b: 2 } }],
    [
      'a pipeline that cuts an array',
      [{ $set: { l: { $slice: ['$l', 1] } } }],
      { l: [1, 2] },
      { truncatedArrays: [{ field: 'l', newSize: 1 }] },
    ],
    [
      'a pipeline within documents',
      [{ $set: { 'a.b': 2, c: 3 } }],
      { a: { b: 1, z: 0 } },
      { updatedFields: { 'a.b': 2, c: 3 } },
    ],
  ])('%s', (_, update, doc, expected) => {
    const nothing = { updatedFields: {}, removedFields: [], truncatedArrays: [] };
    expect(apply(update, doc).description).toEqual({ ...nothing, ...expected });
  });

  it('leads from the old document to the new one, and the old one is not modified', () => {
    let applied = 0;
    fc.assert(
      fc.property(smallDoc, update, (doc, change) => {
        const frozen = deepFreeze(cloneValue(doc));
        const filters = JSON.stringify(change).includes('$[i]') ? [{ i: { $gte: new Int32(1) } }] : undefined;
        let result: ReturnType<typeof apply>;
        try {
          result = apply(change, frozen, {}, filters);
        } catch (error) {
          expect((error as Error).name).toBe('CommandError');
          return;
        }
        applied += 1;
        expect(sorted(replay(cloneValue(doc), result.description))).toEqual(sorted(result.doc));
        if (!result.changed) expect(identical(result.doc, doc)).toBe(true);
      }),
      { numRuns: sampled(4000) },
    );
    expect(applied).toBeGreaterThan(sampled(800));
  });
});

describe('updates', () => {
  it('recognize a replacement by its first field', () => {
    expect(isReplacement({ a: 1 })).toBe(true);
    expect(isReplacement({})).toBe(true);
    expect(isReplacement({ $set: { a: 1 } })).toBe(false);
    expect(isReplacement([{ $set: { a: 1 } }])).toBe(false);
  });

  it('set dates and timestamps to the given time', () => {
    const now = new Date('2026-11-21T12:00:00.500Z');
    const { doc } = apply({ $currentDate: { d: true, t: { $type: 'timestamp' } } }, {}, { now });
    expect(doc).toMatchObject({ d: now, t: { t: 1795262400 } });
    expect(apply([{ $set: { d: '$$NOW' } }], {}, { now }).doc).toEqual({ d: now });
  });

  it('put a new _id first, and refuse to change an existing one', () => {
    const { doc } = compileUpdate({ $setOnInsert: { a: 1, _id: 7 } })({ b: 2 }, { insert: true });
    expect(Object.keys(doc)).toEqual(['_id', 'b', 'a']);
    expect(() => apply({ _id: 2 }, { _id: 1 })).toThrow(expect.objectContaining({ code: 66 }));
  });

  it('handle names that objects inherit', () => {
    const { doc } = apply({ $set: { 'constructor.name': 'x', toString: 1 } }, {});
    expect(doc).toEqual({ constructor: { name: 'x' }, toString: 1 });
    const hostile = apply(JSON.parse('{"$set": {"__proto__.polluted": true}}'), {}).doc;
    expect(Object.keys(hostile)).toEqual(['__proto__']);
    expect(({} as Doc).polluted).toBeUndefined();
  });

  it('refuse two paths to one array element', () => {
    const update = { $set: { 'l.$[]': 1, 'l.0': 2 } };
    expect(() => apply(update, { l: [0] })).toThrow(expect.objectContaining({ code: 40 }));
  });
});

describe('the initial document of an upsert', () => {
  it.each<[Doc, Doc]>([
    [
      { a: 1, b: { $eq: 2 }, c: { $gt: 3 }, d: { $in: [4] }, e: { $in: [5, 6] }, f: { $in: [7, /x/] }, g: { $in: [] } },
      { a: 1, b: 2, d: 4 },
    ],
    [
      { 'a.b': { $in: [null] }, c: { $in: [8, 8] } },
      { a: { b: null }, c: 8 },
    ],
    [{ 'a.b.c': 1, 'a.d': 2 }, { a: { b: { c: 1 }, d: 2 } }],
    [
      { $and: [{ a: 1 }, { b: null }], $or: [{ c: 3 }] },
      { a: 1, b: null, c: 3 },
    ],
    [{ $or: [{ a: 1 }, { a: 2 }], e: /x/ }, {}],
    [
      { z: 1, _id: 'x', a: 2 },
      { _id: 'x', a: 2, z: 1 },
    ],
    [{ l: { $all: [1] } }, { l: 1 }],
  ])('%j', (filter, expected) => {
    const base = upsertBase(filter);
    expect(base).toEqual(expected);
    expect(Object.keys(base)).toEqual(Object.keys(expected));
  });

  it.each<[Doc]>([[{ a: 1, $and: [{ a: 2 }] }], [{ a: { $in: [1] }, $and: [{ a: 1 }] }], [{ a: { b: 1 }, 'a.b': 1 }]])(
    '%j is ambiguous',
    (filter) => {
      expect(() => upsertBase(filter)).toThrow(expect.objectContaining({ code: 54 }));
    },
  );
});

/** Applies an update description to a document. */
function replay(doc: Doc, { updatedFields, removedFields, truncatedArrays }: UpdateDescription): Doc {
  for (const path of removedFields) {
    const { container, name } = locate(doc, path);
    delete (container as Doc)[name];
  }
  for (const { field, newSize } of truncatedArrays) {
    const { container, name } = locate(doc, field);
    ((container as Doc)[name] as unknown[]).length = newSize;
  }
  for (const [path, value] of Object.entries(updatedFields)) {
    const { container, name } = locate(doc, path);
    if (Array.isArray(container)) while (container.length < Number(name)) container.push(null);
    (container as Doc)[name] = cloneValue(value);
  }
  return doc;
}

function locate(doc: Doc, path: string): { container: unknown; name: string } {
  const parts = path.split('.');
  const name = parts.pop() as string;
  return { container: parts.reduce<unknown>((inner, part) => (inner as Doc)[part], doc), name };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isDoc(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

function deepFreeze<T>(value: T): T {
  if (Array.isArray(value)) value.forEach(deepFreeze);
  else if (isDoc(value)) Object.values(value).forEach(deepFreeze);
  else return value;
  return Object.freeze(value);
}

/** Deep copy of documents and arrays. */
function cloneValue<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneValue) as T;
  if (!isDoc(value)) return value;
  return Object.fromEntries(Object.keys(value).map((name) => [name, cloneValue(value[name])])) as T;
}
