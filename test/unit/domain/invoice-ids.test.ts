import { expect, it } from 'vitest';
import { isId } from '../../../src/domain/ids.ts';
import { createInvoiceIds } from '../../../src/domain/invoice/invoice-ids.ts';

const owner = { tenantId: 'ten_1', environment: 'test' } as const;
const UUID_V4 = /^inv_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('a key gives the same id at each call and in each process, in the form of a UUID of version 4', () => {
  const id = createInvoiceIds('secret').ofKey(owner, 'order-1001');
  expect(createInvoiceIds('secret').ofKey({ ...owner }, 'order-1001')).toBe(id);
  // Ids are stored for good: whoever changes how they are derived forgets every key.
  expect(id).toBe('inv_241c3fe9-79e5-41da-a483-97e28b9044f5');
  for (let n = 0; n < 200; n++) {
    const other = createInvoiceIds('secret').ofKey(owner, `order-${n}`);
    expect(other).toMatch(UUID_V4);
    expect(isId('inv', other)).toBe(true);
  }
});

it('another key, tenant, environment or installation gives another id', () => {
  const ids = createInvoiceIds('secret');
  const all = [
    ids.ofKey(owner, 'a'),
    ids.ofKey(owner, 'A'),
    ids.ofKey(owner, '"a"'),
    ids.ofKey(owner, 'é'),
    ids.ofKey(owner, 'e\u0301'),
    ids.ofKey({ ...owner, environment: 'live' }, 'a'),
    ids.ofKey({ ...owner, tenantId: 'ten_2' }, 'a'),
    ids.ofKey({ ...owner, tenantId: 'ten_1","test' }, 'a'),
    ids.ofKey(owner, 'test","a'),
    createInvoiceIds('another secret').ofKey(owner, 'a'),
  ];
  expect(new Set(all).size).toBe(all.length);
});
