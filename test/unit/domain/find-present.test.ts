import { expect, it } from 'vitest';
import { createPresentAmong } from '../../../src/domain/invoice/find-present.ts';

it('finds the invoices of tenants that are not erased; reads each invoice once, the tenants each time', async () => {
  const owners = new Map([
    ['inv_1', 'ten_1'],
    ['inv_2', 'ten_2'],
    ['inv_3', 'ten_1'],
  ]);
  const present = new Set(['ten_1', 'ten_2']);
  const read: string[] = [];
  const presentAmong = createPresentAmong(
    {
      tenantsOf: async (ids) => {
        read.push(...ids);
        return new Map([...owners].filter(([id]) => ids.includes(id)));
      },
    },
    { presentAmong: async (ids) => new Set(ids.filter((id) => present.has(id))) },
  );
  const ids = ['inv_1', 'inv_2', 'inv_3', 'inv_unknown'];
  expect(await presentAmong(ids)).toEqual(new Set(['inv_1', 'inv_2', 'inv_3']));
  present.delete('ten_1');
  expect(await presentAmong(ids)).toEqual(new Set(['inv_2']));
  expect(read).toEqual([...ids, 'inv_unknown']);
});
