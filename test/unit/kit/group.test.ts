import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createGroup, type GroupOptions, type Outcome } from '../../../src/domain/kit/group.ts';

/** A group whose writes end when the test says so. An item's result is `written ITEM`, or an error if it starts with `!`. */
function heldGroup(options: Partial<GroupOptions<string>> = {}) {
  const groups: (readonly string[])[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const write = createGroup<string, string>(
    async (items) => {
      const end = Promise.withResolvers<void>();
      groups.push(items);
      ends.push(end);
      await end.promise;
      return items.map(
        (item): Outcome<string> => (item.startsWith('!') ? { error: new Error(item) } : { result: `written ${item}` }),
      );
    },
    { maxItems: 3, ...options },
  );
  return {
    write,
    groups,
    /** Ends the latest group, and lets the next one start. */
    async end(error?: Error) {
      if (error) ends.at(-1)?.reject(error);
      else ends.at(-1)?.resolve();
      await nextTurn();
    },
  };
}

it('writes the calls of one turn at once, without a timer', async () => {
  const { write, groups, end } = heldGroup();
  const calls = [write('a'), write('b')];
  expect(groups).toEqual([]);
  await nextTurn();
  expect(groups).toEqual([['a', 'b']]);
  await end();
  expect(await Promise.all(calls)).toEqual(['written a', 'written b']);
});

it('gathers what is asked for while a group is under way, and writes one group at a time in the order of the calls', async () => {
  const { write, groups, end } = heldGroup();
  const calls = [write('a')];
  await nextTurn();
  for (const item of ['b', 'c', 'd', 'e', 'f']) {
    calls.push(write(item));
    await nextTurn();
  }
  expect(groups).toEqual([['a']]);
  await end();
  expect(groups).toEqual([['a'], ['b', 'c', 'd']]);
  calls.push(write('g'));
  await end();
  expect(groups).toEqual([['a'], ['b', 'c', 'd'], ['e', 'f', 'g']]);
  await end();
  expect(await Promise.all(calls)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((item) => `written ${item}`));
});

it('starts again after a rest', async () => {
  const { write, groups, end } = heldGroup();
  for (const item of ['a', 'b']) {
    const call = write(item);
    await nextTurn();
    await end();
    expect(await call).toBe(`written ${item}`);
    await nextTurn();
  }
  expect(groups).toEqual([['a'], ['b']]);
});

it('weighs a group: what would make it too heavy waits, and what is too heavy by itself goes alone', async () => {
  const { write, groups, end } = heldGroup({ maxItems: 10, maxWeight: 5, weightOf: ({ length }) => length });
  const calls = ['aa', 'bbb', 'c', 'ddddddddd', 'e', 'ffff', 'g'].map(write);
  await nextTurn();
  for (let n = 0; n < 5; n++) await end();
  expect(groups).toEqual([['aa', 'bbb'], ['c'], ['ddddddddd'], ['e', 'ffff'], ['g']]);
  await Promise.all(calls);
});

it('makes up a group when its turn comes, and takes a turn for each group', async () => {
  const turns: (() => void)[] = [];
  const { write, groups, end } = heldGroup({
    through: async (work) => {
      await new Promise<void>((begin) => turns.push(begin));
      await work();
    },
  });
  const calls = ['a', 'b'].map(write);
  await nextTurn();
  calls.push(write('c'), write('d'));
  await nextTurn();
  expect([groups, turns.length]).toEqual([[], 1]);
  turns[0]?.();
  await nextTurn();
  expect(groups).toEqual([['a', 'b', 'c']]);
  await end();
  expect([groups.length, turns.length]).toEqual([1, 2]);
  turns[1]?.();
  await nextTurn();
  await end();
  expect(await Promise.all(calls)).toEqual(['a', 'b', 'c', 'd'].map((item) => `written ${item}`));
});

it('fails for the item that failed, and for no other one', async () => {
  const { write, end } = heldGroup();
  const calls = Promise.allSettled(['a', '!b', 'c'].map(write));
  await nextTurn();
  await end();
  expect((await calls).map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message))).toEqual([
    'written a',
    '!b',
    'written c',
  ]);
});

it('fails for every item of a group whose command failed, with its error, and writes the next group', async () => {
  const { write, end, groups } = heldGroup();
  const calls = ['a', 'b', 'c', 'd'].map(write);
  const settled = Promise.allSettled(calls);
  await nextTurn();
  const away = new Error('away');
  await end(away);
  await end();
  expect(groups).toEqual([['a', 'b', 'c'], ['d']]);
  expect((await settled).map((each) => (each.status === 'fulfilled' ? each.value : each.reason))).toEqual([
    away,
    away,
    away,
    'written d',
  ]);
});

it('fails, and does not hang, if the write throws before it waits or forgets an item', async () => {
  const throwing = createGroup<string, string>(
    () => {
      throw new Error('at once');
    },
    { maxItems: 3 },
  );
  await expect(throwing('a')).rejects.toThrow('at once');
  await expect(throwing('b')).rejects.toThrow('at once');
  const forgetful = createGroup<string, string>(async () => [{ result: 'first' }], { maxItems: 3 });
  const calls = Promise.allSettled([forgetful('a'), forgetful('b')]);
  expect((await calls).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});

it('writes the first item at once if it is told to', async () => {
  const { write, groups, end } = heldGroup({ atOnce: true });
  const calls = ['a', 'b'].map(write);
  expect(groups).toEqual([['a']]);
  await end();
  expect(groups).toEqual([['a'], ['b']]);
  await end();
  await Promise.all(calls);
});

it('begins a further group only when it is full, and is idle when all have ended', async () => {
  const idle = vi.fn();
  const ends: (() => void)[] = [];
  const write = createGroup<string, null>(
    async (items) => {
      await new Promise<void>((end) => ends.push(end));
      return items.map(() => ({ result: null }));
    },
    { maxItems: 2, writers: 2, atOnce: true, onIdle: idle },
  );
  const calls = ['a', 'b'].map(write);
  expect(ends).toHaveLength(1);
  calls.push(...['c', 'd', 'e', 'f'].map(write));
  expect(ends).toHaveLength(2);
  for (let n = 0; n < 4; n++) {
    expect(idle).not.toHaveBeenCalled();
    ends[n]?.();
    await nextTurn();
  }
  await Promise.all(calls);
  expect(idle).toHaveBeenCalledOnce();
});

it('writes a group that failed again, as often as it may, and reports each failure', async () => {
  let failures = 2;
  const reported: unknown[] = [];
  const write = createGroup<string, string>(
    async (items) => {
      if (failures-- > 0) throw new Error('away');
      return items.map((item) => ({ result: item }));
    },
    { maxItems: 3, retry: { times: 2, pauseMs: 1, report: (error) => reported.push(error) } },
  );
  expect(await Promise.all(['a', 'b'].map(write))).toEqual(['a', 'b']);
  expect(reported).toHaveLength(2);
  failures = 3;
  await expect(write('c')).rejects.toThrow('away');
  expect([reported.length, await write('d')]).toEqual([5, 'd']);
});
