import { describe, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const REPLACE = `mutation ($id: ID!, $input: CreateInvoiceInput!, $reason: CreditReason!, $note: String, $key: String) {
  replaceInvoice(invoiceId: $id, input: $input, reason: $reason, note: $note, idempotencyKey: $key) {
    __typename
    ... on ReplaceInvoicePayload {
      clientSecret replayed creditNoteClientSecret
      invoice { id number status amount replaces { id number reason note creditNoteId } }
      creditNote { id number status amount reason note invoice { id number } } }
    ... on Error { code message param status } } }`;
const READ = `query ($id: ID!) { invoice(id: $id) {
  id number status rejectionReason creditedAmount attention { reason message }
  replaces { id number issueDate dgiId reason note creditNoteId } replacedBy { id number status }
  creditNotes { nodes { id number status amount } } documents { xml { url } } } }`;

/** The input of GraphQL for 2 × 75.00 at 20 %. */
function corrected(changes: object = {}) {
  return {
    amount: 18_000,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'Client corrigé' },
    lines: [{ description: 'Conseil', quantity: 2, unitPrice: 7_500, taxRate: 20 }],
    ...changes,
  };
}

async function replace(id: string, changes: object = {}, variables: object = {}) {
  const { body } = await client.graphql(REPLACE, { id, input: corrected(changes), reason: 'error', ...variables });
  return body.data?.replaceInvoice ?? body;
}

const REJECTING = '999000000000102';

/** Creates an invoice of 240.00 and waits for the decision. */
async function decided(ice = '001234567000089', changes: object = {}) {
  const body = invoiceBody({
    amount: 24_000,
    customer: { ice, name: 'Client' },
    lines: [{ description: 'Conseil', quantity: 2, unit_price: 10_000, tax_rate: 20 }],
    ...changes,
  });
  const { body: created } = await client.post('/v1/invoices', body);
  return settled(created.id);
}

/** Creates an accepted invoice of a customer whose documents the authority decides when the test says so. */
async function heldUntilAccepted() {
  const customer = { ice: SLOW_CUSTOMER, name: 'Client' };
  const { body } = await client.post('/v1/invoices', invoiceBody({ customer }));
  const accept = await holdDecision(service, body.id);
  await accept();
  return settled(body.id);
}

async function read(id: string) {
  const { body } = await client.graphql(READ, { id });
  if (!body.data?.invoice) throw new Error(JSON.stringify(body));
  return body.data.invoice;
}

async function settled(id: string) {
  await client.settled(id);
  return read(id);
}

describe('replaceInvoice of an accepted invoice', () => {
  it('credits it and issues the corrected one after the credit note; both sides show it', async () => {
    const original = await decided();
    const made = await replace(original.id, {}, { note: 'Prix faux', key: 'replace-1' });
    expect(made).toMatchObject({
      __typename: 'ReplaceInvoicePayload',
      replayed: false,
      invoice: { number: null, status: 'pending', amount: 18_000, replaces: { id: original.id, note: 'Prix faux' } },
      creditNote: {
        status: 'pending',
        amount: 24_000,
        reason: 'error',
        note: 'Prix faux',
        invoice: { id: original.id, number: original.number },
      },
    });
    const issued = await settled(made.invoice.id);
    expect(issued).toMatchObject({
      status: 'accepted',
      number: expect.stringMatching(/^\d{4}-\d{6}$/),
      replaces: { id: original.id, number: original.number, reason: 'error', creditNoteId: made.creditNote.id },
      replacedBy: null,
    });
    const before = await read(original.id);
    expect(before).toMatchObject({
      creditedAmount: 24_000,
      replacedBy: { id: issued.id, status: 'accepted' },
      creditNotes: { nodes: [{ id: made.creditNote.id, status: 'accepted', amount: 24_000 }] },
    });
    const verified = async (id: string) => (await fetch(`${service.url}/verify/${id}?lang=en`)).text();
    expect(await verified(original.id)).toMatch(/Credited in full.*240\.00/);
    expect(await verified(issued.id)).toMatch(new RegExp(`Replaces the invoice.*${original.number}`));
    expect(await verified(issued.id)).not.toContain('Credited');
    expect(await verified(original.id)).toMatch(new RegExp(`Replaced by the invoice.*${issued.number}`));
    expect(await verified(issued.id)).not.toContain('Replaced by');
    const xml = await (await fetch(issued.documents.xml.url)).text();
    expect(/BillingReference.*>(\d{4}-\d{6})<.*BillingReference/.exec(xml)?.[1]).toBe(original.number);
  });

  it('is done once with one key for both documents, and answers repeated requests', async () => {
    const { id } = await decided();
    const all = await Promise.all(Array.from({ length: 8 }, () => replace(id, {}, { key: 'replace-once' })));
    const done = all.filter(({ __typename }) => __typename === 'ReplaceInvoicePayload');
    expect(new Set(done.map(({ invoice }) => invoice.id)).size).toBe(1);
    expect(new Set(done.map(({ creditNote }) => creditNote.id)).size).toBe(1);
    expect(done.filter(({ replayed }) => !replayed)).toHaveLength(1);
    const [{ invoice, creditNote }] = done;
    await settled(invoice.id);
    const replayed = await replace(id, {}, { key: 'replace-once' });
    expect(replayed).toMatchObject({
      replayed: true,
      clientSecret: expect.any(String),
      invoice: { id: invoice.id, status: 'pending', number: null },
      creditNote: { id: creditNote.id, status: 'pending', number: null },
    });
    const conflict = { code: 'idempotency_conflict' };
    expect(await replace(id, { amount: 18_001 }, { key: 'replace-once' })).toMatchObject(conflict);
    expect(await replace(id, {}, { key: 'replace-once', reason: 'other' })).toMatchObject(conflict);
    const { body } = await client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'replace-once' });
    expect(body.error).toMatchObject(conflict);
  });

  it('of 8 requests at once with different keys, one replaces it; the others take nothing', async () => {
    const { id } = await decided();
    const all = await Promise.all(Array.from({ length: 8 }, (_, nth) => replace(id, {}, { key: `race-${nth}` })));
    const done = all.filter(({ __typename }) => __typename === 'ReplaceInvoicePayload');
    expect(done).toHaveLength(1);
    for (const other of all) if (other !== done[0]) expect(other).toMatchObject({ code: 'invoice_not_replaceable' });
    expect((await settled(done[0].invoice.id)).status).toBe('accepted');
    expect(await read(id)).toMatchObject({ creditedAmount: 24_000, creditNotes: { nodes: [{ amount: 24_000 }] } });
    expect(await replace(id)).toMatchObject({
      code: 'invoice_not_replaceable',
      message: expect.stringContaining(done[0].invoice.id),
      param: 'invoiceId',
      status: 422,
    });
  });

  it('credits only what is left, and nothing if nothing is left', async () => {
    const { id } = await decided();
    const credit = async (net: number) => {
      const { body } = await client.graphql(
        `mutation { creditInvoice(invoiceId: "${id}", input: { reason: discount, amounts: [{ taxRate: 20, net: ${net} }] }) {
          ... on CreditInvoicePayload { creditNote { id } } } }`,
      );
      const note = body.data.creditInvoice.creditNote.id;
      const state = async () => (await client.graphql(`{ creditNote(id: "${note}") { status } }`)).body.data.creditNote;
      await expect.poll(state, { timeout: 30_000 }).toEqual({ status: 'accepted' });
    };
    await credit(5_000);
    const made = await replace(id, {}, { key: 'rest' });
    expect(made.creditNote).toMatchObject({ amount: 18_000 });
    await settled(made.invoice.id);
    expect(await read(id)).toMatchObject({ creditedAmount: 24_000 });

    const whole = await heldUntilAccepted();
    const { body } = await client.graphql(
      `mutation { creditInvoice(invoiceId: "${whole.id}", input: { reason: error }) {
        ... on CreditInvoicePayload { creditNote { id } } ... on Error { code } } }`,
    );
    const { id: noteId } = body.data.creditInvoice.creditNote;
    const acceptNote = await holdDecision(service, noteId);
    expect(await replace(whole.id)).toMatchObject({ code: 'invoice_not_replaceable', param: 'invoiceId' });
    await acceptNote();
    const note = async () => (await client.graphql(`{ creditNote(id: "${noteId}") { status } }`)).body.data.creditNote;
    await expect.poll(note, { timeout: 30_000 }).toEqual({ status: 'accepted' });
    const after = await replace(whole.id);
    expect(after).toMatchObject({ creditNote: null, creditNoteClientSecret: null });
    expect(await settled(after.invoice.id)).toMatchObject({ status: 'accepted', replaces: { creditNoteId: null } });
  });

  it('does not hold up the numbers of other invoices while it waits', async () => {
    const { id } = await decided();
    const { db } = service.app.store;
    const made = await replace(id);
    const others = await Promise.all([decided(), decided()]);
    const issued = await settled(made.invoice.id);
    expect(issued.status).toBe('accepted');
    const serial = (number: string) => Number(number.slice(5));
    const numbers = [...others.map(({ number }) => serial(number)), serial(issued.number)];
    expect(new Set(numbers).size).toBe(3);
    const taken = await db
      .collection('invoices')
      .distinct('series.serial', { tenantId: tenant.id, 'series.name': /^2/ });
    expect(taken.toSorted((a, b) => a - b)).toEqual(taken.map((_, index) => index + 1));
  });

  it('is not issued if the credit note is rejected; the correction is corrected in turn', async () => {
    const original = await decided();
    const { db } = service.app.store;
    // The credit note names the customer of the original, for whom the authority rejects documents now.
    await db.collection('invoices').updateOne({ _id: original.id as never }, { $set: { 'customer.ice': REJECTING } });
    const made = await replace(original.id);
    const failed = await settled(made.invoice.id);
    expect(failed).toMatchObject({
      status: 'rejected',
      number: null,
      rejectionReason: expect.stringContaining('Cette facture n’a pas été émise'),
      attention: { reason: 'credit_note_rejected' },
    });
    expect(await read(original.id)).toMatchObject({
      status: 'accepted',
      creditedAmount: 0,
      creditNotes: { nodes: [] },
      replacedBy: { id: failed.id, status: 'rejected' },
    });
    expect(await replace(original.id)).toMatchObject({ code: 'invoice_not_replaceable' });
    await db
      .collection('invoices')
      .updateOne({ _id: original.id as never }, { $set: { 'customer.ice': '001234567000089' } });
    const again = await replace(failed.id);
    expect(again).toMatchObject({ creditNote: { amount: 24_000, invoice: { id: original.id } } });
    expect(await settled(again.invoice.id)).toMatchObject({ status: 'accepted', replaces: { id: failed.id } });
    expect(await read(failed.id)).toMatchObject({ attention: null, replacedBy: { id: again.invoice.id } });
    expect(await read(original.id)).toMatchObject({ creditedAmount: 24_000 });
  });
});

describe('replaceInvoice of a rejected invoice', () => {
  it('only links them: nothing is credited', async () => {
    const rejected = await decided(REJECTING);
    expect(rejected.status).toBe('rejected');
    const made = await replace(rejected.id, {}, { note: 'ICE corrigé' });
    expect(made).toMatchObject({ creditNote: null, invoice: { replaces: { id: rejected.id, note: 'ICE corrigé' } } });
    const issued = await settled(made.invoice.id);
    expect(issued).toMatchObject({ status: 'accepted', replaces: { id: rejected.id, number: rejected.number } });
    expect(await read(rejected.id)).toMatchObject({ creditedAmount: 0, replacedBy: { id: issued.id } });
  });
});

describe('replaceInvoice refuses', () => {
  it('an unknown invoice, one of another tenant, and a credit note', async () => {
    const other = new Client(service.url, (await service.tenant()).secretKey);
    const { body } = await other.post('/v1/invoices', invoiceBody());
    await other.settled(body.id);
    for (const id of ['inv_550e8400-e29b-41d4-a716-446655440000', 'x'.repeat(100), 'crn_1', body.id])
      expect(await replace(id)).toMatchObject({ __typename: 'NotFoundError', code: 'resource_not_found' });
  });

  it('an invoice without a decision', async () => {
    const { body } = await client.post(
      '/v1/invoices',
      invoiceBody({ customer: { ice: '999000000000393', name: 'A' } }),
    );
    expect(await replace(body.id)).toMatchObject({ code: 'invoice_not_replaceable', param: 'invoiceId' });
  });

  it('wrong input and a taken number before anything is taken', async () => {
    const { id } = await decided();
    const number = 'REPLACED-1';
    await decided(undefined, { number });
    expect(await replace(id, { amount: 18_500 })).toMatchObject({ code: 'amount_mismatch', param: 'amount' });
    expect(await replace(id, { number })).toMatchObject({ code: 'duplicate_number', param: 'number' });
    expect(await replace(id, {}, { note: 'x'.repeat(501) })).toMatchObject({ code: 'invalid_request', param: 'note' });
    expect(await replace(id, {}, { key: '' })).toMatchObject({ code: 'invalid_request', param: 'idempotencyKey' });
    const made = await replace(id, { number: 'REPLACED-2' });
    expect(made).toMatchObject({ __typename: 'ReplaceInvoicePayload', creditNote: { amount: 24_000 } });
    expect(await settled(made.invoice.id)).toMatchObject({ status: 'accepted', number: 'REPLACED-2' });
  });
});
