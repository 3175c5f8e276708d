import type { Document } from 'mongodb';
import { expect, it } from 'vitest';
import type { Placement } from '../../../src/storage/collection-rule-types.ts';
import { routesOf, staysUnique } from '../../support/shard-routing.ts';

const PLACEMENTS: Record<string, Placement> = {
  hashed: { key: { _id: 'hashed' } },
  ranged: { key: { _id: 1 } },
  chunks: { key: { file: 'hashed' } },
  pair: { key: { tenant: 1, year: 1 } },
  whole: { whole: 'it is small' },
};

const find = (collection: string, filter: Document): Document => ({ find: collection, filter });
const update = (collection: string, q: Document, further = {}): Document => ({
  update: collection,
  updates: [{ q, u: {}, ...further }],
});
const remove = (collection: string, q: Document, limit: 0 | 1): Document => ({
  delete: collection,
  deletes: [{ q, limit }],
});
const modify = (collection: string, query: Document): Document => ({ findAndModify: collection, query });
const insert = (collection: string, ...documents: Document[]): Document => ({ insert: collection, documents });

it.each<[string, string, Document]>([
  ['a read by its key', 'targeted', find('hashed', { _id: 'a', other: 1 })],
  ['a read by several keys', 'targeted', find('hashed', { _id: { $in: ['a', 'b'] } })],
  ['a read by the key in a conjunction', 'targeted', find('hashed', { $and: [{ other: 1 }, { _id: { $eq: 'a' } }] })],
  ['a read by the key in every branch', 'targeted', find('hashed', { $or: [{ _id: 'a' }, { _id: 'b' }] })],
  ['a read by the key in one branch', 'scattered', find('hashed', { $or: [{ _id: 'a' }, { other: 1 }] })],
  ['a read by another field', 'scattered', find('hashed', { other: 1 })],
  ['a read of everything', 'scattered', { find: 'hashed' }],
  ['a read of all but one', 'scattered', find('hashed', { _id: { $ne: 'a' } })],
  ['a range of a hashed key', 'scattered', find('hashed', { _id: { $gt: 'a', $lt: 'b' } })],
  ['a range of a ranged key', 'targeted', find('ranged', { _id: { $gt: 'a', $lt: 'b' } })],
  ['a half of a ranged key', 'scattered', find('ranged', { _id: { $gt: 'a' } })],
  ['a read by the first field of a key', 'targeted', find('pair', { tenant: 'a' })],
  ['a read by the second field of a key', 'scattered', find('pair', { year: 1 })],
  ['a change of one', 'targeted', update('hashed', { _id: 'a' })],
  ['a change of one without the key', 'refused', update('hashed', { other: 1 })],
  ['a change of one by its id, which is not the key', 'scattered', update('chunks', { _id: 'a' })],
  ['a change of one of several', 'refused', update('hashed', { _id: { $in: ['a', 'b'] } })],
  ['a change of one by a part of the key', 'refused', update('pair', { tenant: 'a' })],
  ['a change of many by another field', 'scattered', update('hashed', { other: 1 }, { multi: true })],
  ['an upsert by its id, which is not the key', 'refused', update('chunks', { _id: 'a' }, { upsert: true })],
  ['a findAndModify', 'targeted', modify('hashed', { _id: 'a' })],
  ['a findAndModify without the key', 'refused', modify('hashed', { other: 1 })],
  ['a findAndModify by its id, which is not the key', 'refused', modify('chunks', { _id: 'a' })],
  ['a removal', 'targeted', remove('hashed', { _id: 'a' }, 1)],
  ['a removal without the key', 'refused', remove('hashed', { other: 1 }, 1)],
  ['a removal of many without the key', 'scattered', remove('hashed', { other: 1 }, 0)],
  ['an insertion', 'targeted', insert('chunks', { _id: 'a', file: 'f' })],
  ['an insertion without the key', 'refused', insert('chunks', { _id: 'a' })],
  ['an aggregation', 'targeted', { aggregate: 'hashed', pipeline: [{ $match: { _id: 'a' } }] }],
  ['an aggregation of everything', 'scattered', { aggregate: 'hashed', pipeline: [{ $group: {} }] }],
  ['anything in a whole collection', 'whole', modify('whole', { other: 1 })],
  ['a collection without a placement', 'refused', find('unknown', { _id: 'a' })],
])('%s is %s', (_name, route, command) => {
  const commandName = Object.keys(command)[0] as string;
  expect(routesOf({ commandName, command }, PLACEMENTS)).toMatchObject([{ route }]);
});

it('every statement of a command counts', () => {
  const both = { update: 'hashed', updates: [{ q: { _id: 'a' } }, { q: { other: 1 }, multi: true }] };
  expect(routesOf({ commandName: 'update', command: both }, PLACEMENTS)).toEqual([
    { route: 'targeted', keys: 1, statement: 'updateOne hashed by _id' },
    { route: 'scattered', keys: 0, statement: 'updateMany hashed by other' },
  ]);
});

it.each<[string, number, Document]>([
  ['a value', 1, find('hashed', { _id: 'a' })],
  ['a list', 3, find('hashed', { _id: { $in: ['a', 'b', 'c'] } })],
  ['branches', 3, find('hashed', { $or: [{ _id: 'a' }, { _id: { $in: ['b', 'c'] } }] })],
  ['a range of a ranged key', 1, find('ranged', { _id: { $gt: 'a', $lt: 'b' } })],
  ['another field', 0, find('hashed', { other: 1 })],
  ['a whole collection', 0, find('whole', { _id: { $in: ['a', 'b'] } })],
])('%s: a statement names %d values of its shard key', (_name, keys, command) => {
  expect(routesOf({ commandName: 'find', command }, PLACEMENTS)).toMatchObject([{ keys }]);
});

it('a command that is not known is not passed over', () => {
  expect(() => routesOf({ commandName: 'mapReduce', command: {} }, PLACEMENTS)).toThrow('mapReduce');
});

it.each<[boolean, string, Document]>([
  [true, 'hashed', { _id: 1 }],
  [true, 'hashed', { _id: 1, more: 1 }],
  [false, 'hashed', { other: 1 }],
  [false, 'hashed', { other: 1, _id: 1 }],
  [false, 'chunks', { _id: 1 }],
  [true, 'chunks', { file: 1, n: 1 }],
  [true, 'pair', { tenant: 1, year: -1, serial: 1 }],
  [false, 'pair', { tenant: 1, serial: 1 }],
  [true, 'whole', { other: 1 }],
])('%s: in %s, %j stays unique', (expected, collection, index) => {
  expect(staysUnique(index, PLACEMENTS[collection] as Placement)).toBe(expected);
});
