import { expect, it } from 'vitest';
import { createClientSecrets } from '../../../src/domain/invoice/client-secret.ts';
import { createCreateInvoice } from '../../../src/domain/invoice/create-invoice.ts';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import type { IdempotencyMark, InvoiceRepository } from '../../../src/domain/invoice/repository.ts';
import type { Principal } from '../../../src/domain/principal.ts';

const principal: Principal = {
  kind: 'secret',
  keyId: 'key_1',
  tenant: { id: 'ten_1', name: 'T', profile: {}, createdAt: new Date() },
  environment: 'test',
};
const input = {
  amount: 12000,
  currency: 'MAD' as const,
  customer: { ice: '001234567000089', name: 'Atlas' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000, taxRate: 20 as const }],
  metadata: {},
};

it('a request that stored its invoice and then failed is replayed by the next one with its key', async () => {
  const stored: { invoice: Invoice; mark: IdempotencyMark | null }[] = [];
  let failing = true;
  const repository = {
    insert: async (invoice: Invoice, _order: string, mark: IdempotencyMark | null) => {
      const earlier = stored[0];
      if (earlier) return { invoice: earlier.invoice, fingerprint: earlier.mark?.fingerprint ?? '' };
      stored.push({ invoice, mark });
      if (failing) throw new Error('the connection was lost after the write');
      return null;
    },
  } as unknown as InvoiceRepository;
  const queue = { enqueue: async () => {} };
  const create = createCreateInvoice(repository, queue, createClientSecrets(Buffer.alloc(32)));

  await expect(create(principal, input, 'k')).rejects.toThrow('lost');
  failing = false;
  const [again, oncemore] = [await create(principal, input, 'k'), await create(principal, input, 'k')];
  expect(stored).toHaveLength(1);
  expect(again).toMatchObject({ replayed: true, invoice: { id: stored[0]?.invoice.id, status: 'pending' } });
  expect(oncemore).toEqual(again);
  await expect(create(principal, { ...input, metadata: { a: 'b' } }, 'k')).rejects.toMatchObject({
    code: 'idempotency_conflict',
    status: 409,
  });
});
