import { expect, it } from 'vitest';
import { createTenantTurns } from '../../../src/domain/webhook/tenant-turns.ts';

interface Item {
  readonly tenantId: string;
  readonly name: string;
}

/** Turns of tenants that hold so many places at first. */
function turnsOf(held: Record<string, number> = {}) {
  const items = new Map<string, Item>();
  const turns = createTenantTurns<Item>((tenantId) => held[tenantId] ?? 0);
  /** The item of this name, which begins with its tenant. */
  const named = (name: string): Item => {
    const item = items.get(name) ?? { tenantId: name.slice(0, 1), name };
    items.set(name, item);
    return item;
  };
  return {
    turns,
    held,
    add: (...names: string[]) => {
      for (const name of names) turns.add(named(name));
    },
    remove: (name: string) => turns.delete(named(name)),
    /** Takes so many items, each of which then holds a place of its tenant. */
    take: (count: number) =>
      Array.from({ length: count }, () => {
        const item = turns.take();
        if (item) held[item.tenantId] = (held[item.tenantId] ?? 0) + 1;
        return item?.name;
      }),
  };
}

it('the tenant that holds the fewest places goes first, and of its items the one that has waited longest', () => {
  const { add, take } = turnsOf({ a: 3, b: 1 });
  add('a1', 'b1', 'a2', 'b2', 'b3', 'b4');
  expect(take(7)).toEqual(['b1', 'b2', 'a1', 'b3', 'a2', 'b4', undefined]);
});

it('of tenants that hold as many places, the one goes first that has waited longest since its last turn', () => {
  const { add, take, held } = turnsOf();
  add('a1', 'a2', 'b1', 'c1');
  expect(take(1)).toEqual(['a1']);
  held.a = 0;
  expect(take(3)).toEqual(['b1', 'c1', 'a2']);
});

it('an item that is added again keeps its place; one that is deleted leaves, with its tenant if it was the last', () => {
  const { turns, add, remove, take } = turnsOf();
  add('a1', 'a2', 'b1', 'c1', 'a1');
  remove('b1');
  remove('d1');
  add('b1');
  expect(take(4)).toEqual(['a1', 'c1', 'b1', 'a2']);
  expect(turns.isEmpty()).toBe(true);
});
