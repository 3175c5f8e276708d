import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { soleKey } from '../../../src/domain/data-keys.ts';
import { createClientSecrets } from '../../../src/domain/invoice/client-secret.ts';
import { type CreationNeeds, createInvoice } from '../../../src/domain/invoice/create-invoice.ts';
import type { CreateInvoiceInput } from '../../../src/domain/invoice/create-invoice-input.ts';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import { createInvoiceIds } from '../../../src/domain/invoice/invoice-ids.ts';
import type { LogWarnings } from '../../../src/domain/invoice/issuing.ts';
import type { IdempotencyMark, InvoiceRepository } from '../../../src/domain/invoice/repository.ts';
import { createInvoiceWarnings } from '../../../src/domain/invoice/unprintable-warnings.ts';
import { moroccanDate } from '../../../src/domain/morocco/time.ts';
import type { Member } from '../../../src/domain/principal.ts';
import { NO_TRACING } from '../../../src/domain/tracing.ts';

const by: Member = {
  kind: 'secret',
  keyId: 'key_1',
  tenant: { id: 'ten_1', name: 'T', profile: {}, createdAt: new Date(), suspendedAt: null },
  environment: 'test',
};
const input = {
  amount: 12000,
  currency: 'MAD' as const,
  customer: { ice: '001234567000089', name: 'Atlas' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000, taxRate: 20 as const }],
  metadata: {},
};

/** The creation with this repository. */
function creation(invoices: InvoiceRepository, given: Partial<CreationNeeds> = {}) {
  const needs: CreationNeeds = {
    invoices,
    queue: { enqueue: async () => {} },
    invoiceIds: createInvoiceIds('secret'),
    clientSecrets: createClientSecrets(soleKey(Buffer.alloc(32))),
    invoiceWarnings: createInvoiceWarnings(async () => ({ withoutFont: [], distorting: [] })),
    logWarnings: () => {},
    tracing: NO_TRACING,
    missingForIssue: () => [],
    ...given,
  };
  return (sent: CreateInvoiceInput, key: string | null) =>
    createInvoice.run(needs, { by, record: async () => undefined }, sent, key);
}

it('a request is replayed even on a day when its dates are no longer allowed; another request with its key is not', async () => {
  const yesterday = new Date(Date.now() - 86_400_000);
  const stored: { invoice: Invoice; mark: IdempotencyMark | null }[] = [];
  const repository = {
    insert: async (invoice: Invoice, _order: string, mark: IdempotencyMark | null) => {
      const earlier = stored.find((each) => each.mark?.key === mark?.key);
      if (earlier) return { invoice: earlier.invoice, earlier: earlier.mark };
      stored.push({ invoice: { ...invoice, createdAt: yesterday }, mark });
      return { invoice, earlier: null };
    },
    findCreatedAs: async (id: string) => {
      const found = stored.find(({ invoice }) => invoice.id === id);
      return found ? { invoice: found.invoice, earlier: found.mark } : null;
    },
    findByOwnNumber: async () => null,
  } as unknown as InvoiceRepository;
  const create = creation(repository);
  const due = (dueDate: string) => ({ ...input, terms: { dueDate } });

  const today = moroccanDate(new Date());
  // The first request was sent yesterday.
  await create(due(today), 'k');
  const [first] = stored;
  if (!first) throw new Error('nothing was stored');
  const sent = due(moroccanDate(yesterday));
  const fingerprint = createHash('sha256').update(canonical(sent)).digest('hex');
  stored[0] = { invoice: first.invoice, mark: { key: 'k', fingerprint } };

  await expect(create(sent, null)).rejects.toMatchObject({ code: 'invalid_date', status: 422 });
  expect(await create(sent, 'k')).toMatchObject({ replayed: true, invoice: { id: first.invoice.id } });
  await expect(create(due('2001-01-01'), 'k')).rejects.toMatchObject({ code: 'idempotency_conflict' });
  await expect(create({ ...sent, metadata: { a: 'b' } }, 'k')).rejects.toMatchObject({ status: 409 });
  expect(stored).toHaveLength(1);
});

/** Members sorted by name, as in the fingerprint. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

it('the warning codes of a new invoice are logged once; a replay logs nothing', async () => {
  const logged: Parameters<LogWarnings>[0][] = [];
  let earlier: { invoice: Invoice; mark: IdempotencyMark | null } | null = null;
  const repository = {
    insert: async (invoice: Invoice, _order: string, mark: IdempotencyMark | null) => {
      const found = earlier;
      earlier ??= { invoice, mark };
      return { invoice: found?.invoice ?? invoice, earlier: found?.mark ?? null };
    },
  } as unknown as InvoiceRepository;
  const create = creation(repository, { logWarnings: (entry) => void logged.push(entry) });
  const { invoice } = await create(input, 'k');
  await create(input, 'k');
  expect(logged).toEqual([
    {
      invoiceId: invoice.id,
      tenantId: 'ten_1',
      environment: 'test',
      warnings: expect.arrayContaining(['customer_address_missing', 'seller_field_missing', 'due_date_missing']),
    },
  ]);
  expect(new Set(logged[0]?.warnings).size).toBe(logged[0]?.warnings.length);
});

it('an invoice is not stored if its warnings cannot be computed', async () => {
  let stored = 0;
  const repository = {
    insert: async () => {
      stored++;
      return null;
    },
  } as unknown as InvoiceRepository;
  const unreadable = () => Promise.reject(new Error('a font can not be read'));
  const create = creation(repository, { invoiceWarnings: unreadable });
  await expect(create(input, 'k')).rejects.toThrow('a font can not be read');
  expect(stored).toBe(0);
});

it('after a request that stored its invoice and then failed, the next one with its key is a replay', async () => {
  const stored: { invoice: Invoice; mark: IdempotencyMark | null }[] = [];
  let failing = true;
  const repository = {
    insert: async (invoice: Invoice, _order: string, mark: IdempotencyMark | null) => {
      const earlier = stored[0];
      if (earlier) return { invoice: earlier.invoice, earlier: earlier.mark };
      stored.push({ invoice, mark });
      if (failing) throw new Error('the connection was lost after the write');
      return { invoice, earlier: null };
    },
  } as unknown as InvoiceRepository;
  const create = creation(repository);

  await expect(create(input, 'k')).rejects.toThrow('lost');
  failing = false;
  const [again, oncemore] = [await create(input, 'k'), await create(input, 'k')];
  expect(stored).toHaveLength(1);
  expect(again).toMatchObject({ replayed: true, invoice: { id: stored[0]?.invoice.id, status: 'pending' } });
  expect(oncemore).toEqual(again);
  await expect(create({ ...input, metadata: { a: 'b' } }, 'k')).rejects.toMatchObject({
    code: 'idempotency_conflict',
    status: 409,
  });
});

it('a number with several spaces in a row is refused, unless its request was accepted before that rule', async () => {
  let known: Invoice | null = null;
  const repository = {
    findCreatedAs: async () => known && { invoice: known, earlier: null },
    findByOwnNumber: async () => null,
    insert: async (invoice: Invoice, _order: string, mark: IdempotencyMark | null) => ({
      invoice: known ? { ...invoice, id: known.id } : invoice,
      earlier: known ? mark : null,
    }),
  } as unknown as InvoiceRepository;
  const create = creation(repository);
  const { invoice } = await create({ ...input, number: 'FA 1' }, 'k');
  const spaced = { ...input, number: 'FA  1' };
  await expect(create(spaced, 'k')).rejects.toMatchObject({ code: 'invalid_request', param: 'number' });
  known = invoice;
  expect(await create(spaced, 'k')).toMatchObject({ replayed: true, invoice: { id: invoice.id } });
});
