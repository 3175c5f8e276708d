import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { newId } from '../../../src/domain/ids.ts';
import type { GraphQLContext } from '../../../src/graphql/context.ts';
import { prepare } from '../../../src/graphql/execute.ts';

const list = prepare(`query ($first: Int, $last: Int, $before: String) {
  invoices(first: $first, last: $last, before: $before) { nodes { id lines { description } } }
}`);
const one = prepare('query ($id: ID!) { invoice(id: $id) { id } }');

it('lists of REST wait for the places of large operations, tenants in turn; what is short does not', async () => {
  const begun: string[] = [];
  const running: (() => void)[] = [];
  const contextOf = (tenant: string) =>
    ({
      principal: { kind: 'secret', tenant: { id: tenant }, environment: 'test' },
      useCases: {
        readInvoice: async () => ({ id: 'inv_1' }),
        invoices: async () => {
          begun.push(tenant);
          await new Promise<void>((resolve) => running.push(resolve));
          return { invoices: [], hasMore: false, hasOthers: async () => false, bytes: 0 };
        },
      },
    }) as unknown as GraphQLContext;
  const lists = ['a', 'a', 'a', 'a', 'a', 'b'].map((tenant) => list.execute(contextOf(tenant), { first: 100 }));
  await expect.poll(() => begun).toEqual(['a', 'a']);
  expect(await one.execute(contextOf('a'), { id: 'inv_1' })).toEqual({ invoice: { id: 'inv_1' } });
  expect(begun).toEqual(['a', 'a']);
  const pages = [{ first: 1 }, { first: 1, last: null }, { last: 1, before: newId('inv') }];
  const short = pages.map((page) => list.execute(contextOf('c'), page));
  await expect.poll(() => begun).toEqual(['a', 'a', 'c', 'c', 'c']);
  begun.length = 2;
  for (const end of running.splice(2)) end();
  expect(await Promise.all(short)).toEqual(Array(3).fill({ invoices: { nodes: [] } }));
  for (let n = 0; n < lists.length; n++) {
    await expect.poll(() => running.length).toBeGreaterThan(0);
    running.shift()?.();
    await nextTurn();
  }
  await Promise.all(lists);
  expect(begun).toEqual(['a', 'a', 'a', 'b', 'a', 'a']);
});
