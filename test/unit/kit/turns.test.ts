import { expect, it } from 'vitest';
import { createTurns } from '../../../src/domain/kit/turns.ts';

/** Turns of keys that hold so many places at first. The first letter of an item is its key. */
function turnsOf(held: Record<string, number> = {}) {
  const turns = createTurns<string>((key) => held[key] ?? 0);
  return {
    turns,
    held,
    add: (...items: string[]) => {
      for (const item of items) turns.add(item.slice(0, 1), item);
    },
    remove: (item: string) => turns.delete(item.slice(0, 1), item),
    /** Takes so many items, each of which then holds a place of its key. */
    take: (count: number) =>
      Array.from({ length: count }, () => {
        const item = turns.take();
        const key = item?.slice(0, 1);
        if (key) held[key] = (held[key] ?? 0) + 1;
        return item;
      }),
  };
}

it('the key that holds the fewest places goes first, and of its items the one that has waited longest', () => {
  const { add, take } = turnsOf({ a: 3, b: 1 });
  add('a1', 'b1', 'a2', 'b2', 'b3', 'b4');
  expect(take(7)).toEqual(['b1', 'b2', 'a1', 'b3', 'a2', 'b4', undefined]);
});

it('of keys that hold as many places, the one goes first that has waited longest since its last turn', () => {
  const { add, take, held } = turnsOf();
  add('a1', 'a2', 'b1', 'c1');
  expect(take(1)).toEqual(['a1']);
  held.a = 0;
  expect(take(3)).toEqual(['b1', 'c1', 'a2']);
});

it('where places do not matter, one key comes after the other', () => {
  const turns = createTurns<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) turns.add(item.slice(0, 1), item);
  expect(Array.from({ length: 6 }, () => turns.take())).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

it('a key that must wait is passed over, and keeps its turn', () => {
  const { turns, add, take, held } = turnsOf({ a: Number.POSITIVE_INFINITY });
  add('a1', 'b1', 'b2');
  expect(take(1)).toEqual(['b1']);
  held.b = Number.POSITIVE_INFINITY;
  expect([take(1), turns.size]).toEqual([[undefined], 2]);
  Object.assign(held, { a: 0, b: 0 });
  expect(take(2)).toEqual(['a1', 'b2']);
});

it('an item that is added again keeps its place; one that is deleted leaves, with its key if it was the last', () => {
  const { turns, add, remove, take } = turnsOf();
  add('a1', 'a2', 'b1', 'c1', 'a1');
  expect([remove('b1'), remove('b1'), remove('d1')]).toEqual([true, false, false]);
  add('b1');
  expect(turns.size).toBe(4);
  expect(take(4)).toEqual(['a1', 'c1', 'b1', 'a2']);
  expect(turns.size).toBe(0);
});

it('counts the items of a key, lists all, and tells the latest of the key that has most', () => {
  const { turns, add, take } = turnsOf();
  expect(turns.latestOfMost()).toBeUndefined();
  add('a1', 'b1', 'b2', 'c1', 'c2');
  expect([turns.waitingOf('b'), turns.waitingOf('d')]).toEqual([2, 0]);
  expect(turns.latestOfMost()).toBe('b2');
  add('c3');
  expect(turns.latestOfMost()).toBe('c3');
  take(1);
  expect(turns.all()).toEqual(['b1', 'b2', 'c1', 'c2', 'c3']);
});
