import { afterAll, beforeAll, expect, it } from 'vitest';
import { soleKey } from '../../src/domain/data-keys.ts';
import { newId } from '../../src/domain/ids.ts';
import { createClientSecrets } from '../../src/domain/invoice/client-secret.ts';
import { creditInvoice, creditInvoiceInput } from '../../src/domain/invoice/credit-invoice.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { createInvoiceIds } from '../../src/domain/invoice/invoice-ids.ts';
import type { InvoiceCreation } from '../../src/domain/invoice/repository.ts';
import { createInvoiceWarnings } from '../../src/domain/invoice/unprintable-warnings.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Member } from '../../src/domain/principal.ts';
import type { MissingForLive } from '../../src/domain/tenant/ports.ts';
import type { Store } from '../../src/storage/connect.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

const input = creditInvoiceInput.parse({ reason: 'error', metadata: {} });

let store: Store;
let invoice: Invoice;

beforeAll(async () => {
  store = await openTestStore('credit-invoice', true);
});
afterAll(() => store.close());

/** The creation of a credit note of a new accepted invoice, with this insertion instead of the store's. */
async function crediting(insert?: InvoiceCreation['insert'], environment: Invoice['environment'] = 'test') {
  const ownNumber = newId('x');
  invoice = pendingInvoice({ tenantId: newId('ten'), environment, status: 'accepted', ownNumber, number: ownNumber });
  await invoicesOf(store.db).insert(invoice, newCreationMoment().order, null);
  const by: Member = {
    kind: 'secret',
    keyId: 'key_1',
    tenant: { id: invoice.tenantId, name: 'T', profile: {}, createdAt: new Date(), suspendedAt: null },
    environment: invoice.environment,
  };
  const needs = {
    invoices: { ...invoicesOf(store.db), ...(insert && { insert }) },
    queue: { enqueue: async () => {} },
    invoiceIds: createInvoiceIds('secret'),
    clientSecrets: createClientSecrets(soleKey(Buffer.alloc(32))),
    invoiceWarnings: createInvoiceWarnings(async () => ({ withoutFont: [], distorting: [] })),
    logWarnings: () => {},
    missingForIssue: (): readonly MissingForLive[] => [],
  };
  return (changes: Partial<typeof needs> = {}, given: object = {}) =>
    creditInvoice.run(
      { ...needs, ...changes },
      { by, record: async () => {} },
      invoice.id,
      { ...input, ...given },
      'k',
    );
}

const kept = async () => (await invoicesOf(store.db).find(invoice.id))?.credits.list ?? [];
const broken = new Error('the store refuses it');

it('gives the amount back at once if the credit note cannot be stored', async () => {
  const credit = await crediting();
  const invoiceWarnings = () => Promise.reject(broken);
  await expect(credit({ invoiceWarnings })).rejects.toBe(broken);
  expect(await kept()).toEqual([]);
  expect((await credit()).invoice.amount).toBe(invoice.amount);
});

it('keeps the amount if the credit note was stored and only the answer was lost', async () => {
  const credit = await crediting(async (...given) => {
    await invoicesOf(store.db).insert(...given);
    throw broken;
  });
  await expect(credit()).rejects.toBe(broken);
  expect(await kept()).toMatchObject([{ amount: invoice.amount }]);
});

it('keeps the amount if another request with the key has taken it since', async () => {
  const credit = await crediting(async () => {
    const { keepCredits, find } = invoicesOf(store.db);
    const { credits } = (await find(invoice.id)) as Invoice;
    expect(await keepCredits(invoice, credits.version, credits.list)).toBe(true);
    throw broken;
  });
  await expect(credit()).rejects.toBe(broken);
  expect(await kept()).toMatchObject([{ amount: invoice.amount }]);
});

it('answers a repeated request without storing or taking anything, and says what a reused key needs', async () => {
  const credit = await crediting();
  const { invoice: note } = await credit();
  const insert = () => Promise.reject(broken);
  const again = { invoices: { ...invoicesOf(store.db), insert } };
  expect(await credit(again)).toMatchObject({ replayed: true, invoice: { id: note.id, status: 'pending' } });
  await expect(credit(again, { note: 'x' })).rejects.toMatchObject({
    code: 'idempotency_conflict',
    message: expect.stringContaining('Use a new key for a new credit note.'),
  });
  expect(await kept()).toHaveLength(1);
});

it('names a credit note when live ones cannot be issued', async () => {
  const credit = await crediting(undefined, 'live');
  const missingForIssue = () => [{ condition: 'certificate', text: 'a certificate' }] as const;
  await expect(credit({ missingForIssue })).rejects.toMatchObject({
    status: 503,
    message: expect.stringMatching(/^Live credit notes cannot be issued at the moment: they require a certificate\./),
  });
  expect(await kept()).toEqual([]);
});
