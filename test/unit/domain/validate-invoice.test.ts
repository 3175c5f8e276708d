import fc from 'fast-check';
import { expect, it } from 'vitest';
import { soleKey } from '../../../src/domain/data-keys.ts';
import { ServiceError } from '../../../src/domain/errors.ts';
import { problemsOf } from '../../../src/domain/input-problems.ts';
import { createClientSecrets } from '../../../src/domain/invoice/client-secret.ts';
import { type CreationNeeds, createInvoice } from '../../../src/domain/invoice/create-invoice.ts';
import { createInvoiceInput } from '../../../src/domain/invoice/create-invoice-input.ts';
import { createInvoiceIds } from '../../../src/domain/invoice/invoice-ids.ts';
import { InvalidDocument, type InvoiceWriter, type LegalInvoice } from '../../../src/domain/invoice/ports.ts';
import { type InvoiceRepository, NumberTaken } from '../../../src/domain/invoice/repository.ts';
import { createInvoiceWarnings } from '../../../src/domain/invoice/unprintable-warnings.ts';
import { validateInvoice } from '../../../src/domain/invoice/validate-invoice.ts';
import type { Member } from '../../../src/domain/principal.ts';
import { NO_TRACING } from '../../../src/domain/tracing.ts';

const principal: Member = {
  kind: 'secret',
  keyId: 'key_1',
  tenant: { id: 'ten_1', name: 'T', profile: {}, createdAt: new Date(), suspendedAt: null },
  environment: 'test',
};
const draft = {
  amount: 12000,
  currency: 'MAD',
  customer: { ice: '001525713000097', name: 'Atlas' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000, taxRate: 20 }],
  metadata: {},
};

const TAKEN = 'A 1';
const invoices = {
  insert: async (invoice) => {
    if (invoice.ownNumber === TAKEN) throw new NumberTaken('taken');
    return { invoice, earlier: null };
  },
  findByOwnNumber: async (_tenant: string, _environment: string, number: string) =>
    number === TAKEN ? 'inv_of_that_number' : null,
} satisfies Partial<InvoiceRepository> as unknown as InvoiceRepository;
const written: LegalInvoice[] = [];
const writer: InvoiceWriter = {
  async write(invoice) {
    written.push(invoice);
    return { octets: new Uint8Array(), signatureAt: 0, sha256: '' };
  },
};
const warnings = createInvoiceWarnings(async () => ({ withoutFont: [], distorting: [] }));
const validate = (input: unknown, by: InvoiceWriter = writer) =>
  validateInvoice.run({ invoices, writer: by, invoiceWarnings: warnings }, { by: principal }, input);
const creation: CreationNeeds = {
  invoices,
  queue: { enqueue: async () => {} },
  invoiceIds: createInvoiceIds('secret'),
  clientSecrets: createClientSecrets(soleKey(Buffer.alloc(32))),
  invoiceWarnings: warnings,
  logWarnings: () => {},
  tracing: NO_TRACING,
  missingForIssue: () => [],
};

/** The problems of creation by GraphQL: structure by the schema, then the use case. */
async function refusalOf(input: unknown): Promise<readonly object[]> {
  const parsed = createInvoiceInput.safeParse(input);
  if (!parsed.success) return problemsOf(parsed.error);
  try {
    await createInvoice.run(creation, { by: principal, record: async () => undefined }, parsed.data, null);
    return [];
  } catch (error) {
    if (error instanceof ServiceError) return error.problems;
    throw error;
  }
}

const amount = fc.oneof(fc.constantFrom(0, 99, 100, 12000, 2 ** 53 - 1, 2 ** 53, -5, 1.5), fc.anything());
const text = fc.oneof(fc.constantFrom('', ' ', 'Conseil', 'a\u0000', 'x'.repeat(501)), fc.string(), fc.anything());
const line = fc.record(
  { description: text, quantity: amount, unitPrice: amount, taxRate: fc.constantFrom(0, 7, 20, 19, '20', null) },
  { requiredKeys: [] },
);
const day = fc.oneof(
  fc.constantFrom('2026-02-30', '0001-01-01', '9999-12-31', new Date().toISOString().slice(0, 10)),
  text,
);
const terms = fc.record(
  {
    operationDate: day,
    dueDate: day,
    paymentMode: text,
    paymentMeans: fc.constantFrom('cash', 'transfer', 'gold', null),
    paymentReference: text,
    bankAccount: fc.constantFrom('999780000128473900001726', '999780000128473900001727', '9', null),
  },
  { requiredKeys: [] },
);
const anyDraft = fc.oneof(
  fc.anything(),
  fc
    .record(
      {
        amount,
        currency: fc.constantFrom('MAD', 'EUR', null, 1),
        customer: fc.oneof(
          fc.anything(),
          fc.record(
            { ice: fc.constantFrom('001525713000097', '1', '', 5), name: text, address: text, email: text },
            { requiredKeys: [] },
          ),
        ),
        lines: fc.oneof(fc.anything(), fc.array(line, { maxLength: 4 })),
        metadata: fc.oneof(fc.anything(), fc.dictionary(fc.string(), fc.string())),
        number: fc.constantFrom(TAKEN, 'A 2', '2026-000001', '', null, 7),
        terms: fc.oneof(fc.anything(), terms),
        unknown: fc.anything(),
      },
      { requiredKeys: [] },
    )
    .map((changes) => ({ ...draft, ...changes })),
);

it('validation reports everything that creation refuses, and nothing if creation succeeds', async () => {
  let [valid, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(anyDraft, async (input) => {
      const { problems } = await validate(input);
      const refusal = await refusalOf(input);
      const lowest = Math.min(...problems.map(({ status }) => status));
      expect(problems.filter(({ status }) => status === lowest)).toEqual(expect.arrayContaining([...refusal]));
      expect(problems.length === 0).toBe(refusal.length === 0);
      if (problems.length > 0) refused++;
      else valid++;
    }),
    { numRuns: 400, examples: [[draft], [{ ...draft, number: TAKEN }], [{ ...draft, number: 'A 2' }], [null]] },
  );
  expect(Math.min(valid, refused)).toBeGreaterThan(1);
});

it('the legal document is written with the given number; an internal error is reported', async () => {
  written.length = 0;
  await validate({ ...draft, number: 'A 2' });
  await validate(draft);
  expect(written.map(({ number }) => number)).toEqual(['A 2', expect.stringMatching(/^\d{4}-000001$/)]);
  await validate({ ...draft, amount: 1 });
  expect(written).toHaveLength(2);
  const broken: InvoiceWriter = { write: () => Promise.reject(new InvalidDocument('It is empty.')) };
  expect((await validate(draft, broken)).problems).toMatchObject([
    { code: 'internal_error', status: 500, param: null, message: expect.stringContaining('It is empty.') },
  ]);
});

it('as many lines as a body can contain are refused quickly, with a short answer', async () => {
  const lines = Array.from({ length: 30_000 }, () => ({ quantity: 0 }));
  const { problems, totals } = await validate({ ...draft, lines });
  expect(problems.length).toBeLessThanOrEqual(100);
  expect(problems[0]).toMatchObject({ param: 'lines', code: 'invalid_request' });
  expect(totals).toBeNull();
});

it('says nothing of totals and amount while it is not known what deposits leave of them', async () => {
  const id = 'inv_550e8400-e29b-41d4-a716-446655440000';
  const { customer, ...nobodys } = { ...draft, amount: 8400 };
  const drafts: [object, string][] = [
    [{ ...nobodys, customer, deposits: 'x' }, 'deposits'],
    [{ ...nobodys, customer, deposits: [] }, 'deposits'],
    [{ ...nobodys, customer, deposits: [id, id] }, 'deposits'],
    [{ ...nobodys, customer, deposits: [id, 7] }, 'deposits.1'],
    [{ ...nobodys, deposits: [id] }, 'customer'],
    [{ ...nobodys, customer: { ice: customer.ice }, deposits: [id] }, 'customer.name'],
  ];
  for (const [incomplete, param] of drafts) {
    const { problems, totals } = await validate(incomplete);
    expect([problems.map((each) => each.param), totals]).toEqual([[param], null]);
  }
  // Null is none: the amount is that of the lines.
  const { problems, totals } = await validate({ ...nobodys, customer, deposits: null });
  expect(problems).toMatchObject([{ code: 'amount_mismatch', expected: '12000' }]);
  expect(totals).toMatchObject({ gross: 12_000 });
});
