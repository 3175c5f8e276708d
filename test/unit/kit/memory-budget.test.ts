import { expect, it } from 'vitest';
import { createMemoryBudget } from '../../../src/domain/kit/memory-budget.ts';

/** A budget of 100 bytes. The first letter of a holding is its group, the second its member. */
function budgetOf(victim: 'oldest' | 'latest') {
  const budget = createMemoryBudget(100, victim);
  const dropped: string[] = [];
  const add = (name: string, bytes: number) =>
    budget.add(name.charAt(0), { bytes, drop: () => dropped.push(name) }, name.charAt(1));
  return { budget, dropped, add };
}

it('beyond the limit the group with the most bytes loses its oldest holding', () => {
  const { budget, dropped, add } = budgetOf('oldest');
  add('ax1', 30);
  const remove = add('bx1', 40);
  add('ax2', 30);
  expect(dropped).toEqual([]);
  add('bx2', 10);
  expect(dropped).toEqual(['ax1']);
  remove();
  remove();
  expect(budget.bytes).toBe(40);
  add('cx1', 60);
  expect(dropped).toEqual(['ax1']);
  add('cx2', 30);
  expect(dropped).toEqual(['ax1', 'cx1']);
  add('dx1', 101);
  expect(dropped).toEqual(['ax1', 'cx1', 'dx1']);
});

it('or its latest, possibly the new one, where the oldest is next to end', () => {
  const { budget, dropped, add } = budgetOf('latest');
  add('ax1', 30);
  add('ax2', 30);
  add('bx1', 40);
  add('bx2', 10);
  expect(dropped).toEqual(['ax2']);
  add('bx3', 30);
  expect(dropped).toEqual(['ax2', 'bx3']);
  expect(budget.bytes).toBe(80);
});

it('within the group the member with the most bytes loses', () => {
  for (const victim of ['oldest', 'latest'] as const) {
    const { dropped, add } = budgetOf(victim);
    add('ax1', 20);
    add('ay1', 25);
    add('ay2', 25);
    add('bx1', 30);
    add('ax2', 1);
    expect(dropped).toEqual([victim === 'oldest' ? 'ay1' : 'ay2']);
  }
});

it('a holding without bytes is never dropped, as that would free nothing', () => {
  const { dropped, add } = budgetOf('latest');
  add('ax1', 60);
  add('ax2', 0)();
  add('ax3', 0);
  add('ax4', 41);
  add('bx1', 41);
  expect(dropped).toEqual(['ax4', 'ax1']);
});

it('what is dropped may add a holding, however often', () => {
  const budget = createMemoryBudget(100, 'oldest');
  let count = 0;
  const again = (): void => {
    if (++count < 50_000) budget.add('a', { bytes: 101, drop: again });
  };
  again();
  expect([count, budget.bytes]).toEqual([50_000, 0]);
});
