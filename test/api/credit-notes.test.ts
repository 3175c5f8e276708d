import { describe, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const CREDIT = `mutation ($id: ID!, $input: CreditInvoiceInput!, $key: String) {
  creditInvoice(invoiceId: $id, input: $input, idempotencyKey: $key) {
    __typename
    ... on CreditInvoicePayload { clientSecret replayed creditNote {
      id number status amount invoice { id number } totals { subtotal taxTotals { rate base tax } total } } }
    ... on Error { code message param status } } }`;
const READ = `query ($id: ID!, $secret: String) { creditNote(id: $id, clientSecret: $secret) {
  id number status amount dgiId rejectionReason reason note customer { ice name }
  lines { description quantity unitPrice taxRate amount } invoice { id number issueDate dgiId }
  totals { taxTotals { rate base tax } total } documents { xml { url } pdf { url } } } }`;

async function credit(id: string, input: object, key: string | null = null) {
  const { body } = await client.graphql(CREDIT, { id, input, key });
  return body.data?.creditInvoice ?? body;
}

/** Creates an invoice of 3 × 100.01 at 20 % and 1 × 50.03 at 10 %, and waits until it is accepted. */
async function accepted(changes: object = {}): Promise<{ id: string; client_secret: string; number: string }> {
  const body = invoiceBody({
    amount: 41_507,
    lines: [
      { description: 'Conseil', quantity: 3, unit_price: 10_001, tax_rate: 20 },
      { description: 'Livre', quantity: 1, unit_price: 5_003, tax_rate: 10 },
    ],
    ...changes,
  });
  const { body: created } = await client.post('/v1/invoices', body);
  expect((await client.settled(created.id)).status).toBe('accepted');
  const { body: read } = await client.graphql(`{ invoice(id: "${created.id}") { number } }`);
  return { ...created, number: read.data.invoice.number };
}

async function settled(id: string) {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered
  let note: any = null;
  await expect
    .poll(
      async () => {
        note = (await client.graphql(READ, { id })).body.data.creditNote;
        return note.status;
      },
      { timeout: 30_000 },
    )
    .toMatch(/accepted|rejected/);
  return note;
}

describe('creditInvoice', () => {
  it('credits the whole invoice by a document of its own series, which the authority accepts', async () => {
    const invoice = await accepted();
    const made = await credit(invoice.id, { reason: 'error', note: 'Mauvais <client>' });
    expect(made).toMatchObject({
      __typename: 'CreditInvoicePayload',
      replayed: false,
      creditNote: { number: null, status: 'pending', amount: 41_507, invoice: { id: invoice.id } },
    });
    const note = await settled(made.creditNote.id);
    expect(note).toMatchObject({
      number: expect.stringMatching(/^AV-\d{4}-\d{6}$/),
      status: 'accepted',
      dgiId: expect.any(String),
      reason: 'error',
      note: 'Mauvais <client>',
      invoice: { id: invoice.id, number: invoice.number, dgiId: expect.any(String) },
      lines: [{ quantity: 3 }, { quantity: 1 }],
    });
    const xml = await (await fetch(note.documents.xml.url)).text();
    expect(xml).toContain('<CreditNote xmlns="urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2">');
    expect(xml).toContain(`>${invoice.number}</cbc:ID>`);
    const verified = await client.graphql(
      'query ($xml: String!) { verifyDocument(xml: $xml) { valid covered { type number } } }',
      { xml },
    );
    expect(verified.body.data.verifyDocument).toEqual({
      valid: true,
      covered: { type: 'CreditNote', number: note.number },
    });
    expect(await credit(invoice.id, { reason: 'error' })).toMatchObject({
      __typename: 'InvalidInputError',
      code: 'credit_exceeds_invoice',
      status: 422,
    });
  });

  it('credits lines and amounts until exactly nothing is left; the invoice shows it', async () => {
    const { id } = await accepted();
    const first = await credit(id, { reason: 'return', lines: [{ line: 1, quantity: 2 }] });
    const second = await credit(id, { reason: 'discount', amounts: [{ taxRate: 10, net: 1_001 }] });
    const last = await credit(id, { reason: 'other', note: 'Solde' });
    const notes = [first, second, last].map(({ creditNote }) => creditNote);
    expect(notes.map(({ amount }) => amount).reduce((a: number, b: number) => a + b)).toBe(41_507);
    const of = (rate: number) =>
      notes.flatMap(({ totals }) => totals.taxTotals).filter((each: { rate: number }) => each.rate === rate);
    expect(of(20).reduce((sum, { tax }) => sum + tax, 0)).toBe(6_001);
    expect(of(10).reduce((sum, { tax }) => sum + tax, 0)).toBe(500);
    for (const note of notes) expect((await settled(note.id)).status).toBe('accepted');
    const shown = await client.graphql(`{ invoice(id: "${id}") { creditedAmount creditNotes { nodes { id } } } }`);
    expect(shown.body.data.invoice).toEqual({
      creditedAmount: 41_507,
      creditNotes: { nodes: notes.map((n) => ({ id: n.id })).reverse() },
    });
  });

  it('never exceeds the invoice, however many run at once', async () => {
    const { id } = await accepted();
    const results = await Promise.all(
      Array.from({ length: 32 }, () => credit(id, { reason: 'return', lines: [{ line: 1, quantity: 1 }] })),
    );
    const made = results.filter(({ creditNote }) => creditNote);
    expect(made).toHaveLength(3);
    expect(new Set(results.filter(({ code }) => code).map(({ code }) => code))).toEqual(
      new Set(['credit_exceeds_invoice']),
    );
    const numbers = (await Promise.all(made.map(({ creditNote }) => settled(creditNote.id)))).map((n) => n.number);
    expect(new Set(numbers).size).toBe(3);
  });

  it('lists the credit notes of an invoice in pages, newest first', async () => {
    const { id } = await accepted();
    const ids: string[] = [];
    for (const net of [1, 2, 3, 4, 5])
      ids.push((await credit(id, { reason: 'discount', amounts: [{ taxRate: 20, net }] })).creditNote.id);
    for (const each of ids) await settled(each);
    const page = async (args: string) => {
      const { body } = await client.graphql(
        `{ invoice(id: "${id}") { creditNotes${args} { nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor } } } }`,
      );
      if (body.errors) return body.errors[0].extensions.param;
      const { nodes, pageInfo } = body.data.invoice.creditNotes;
      return [nodes.map((node: { id: string }) => node.id), pageInfo.hasPreviousPage, pageInfo.hasNextPage];
    };
    const all = (await page(''))[0];
    expect(all).toEqual(ids.toReversed());
    expect(await page('(first: 2)')).toEqual([all.slice(0, 2), false, true]);
    expect(await page(`(first: 2, after: "${all[1]}")`)).toEqual([all.slice(2, 4), true, true]);
    expect(await page(`(first: 2, after: "${all[3]}")`)).toEqual([all.slice(4), true, false]);
    expect(await page(`(last: 2, before: "${all[3]}")`)).toEqual([all.slice(1, 3), true, true]);
    expect(await page(`(last: 9, before: "${all[3]}")`)).toEqual([all.slice(0, 3), false, true]);
    expect(await page('(first: 0)')).toBe('first');
    expect(await page('(last: 2)')).toBe('last');
    expect(await page(`(after: "${id}")`)).toBe('after');
  });

  it('gives the amount of a rejected credit note back', async () => {
    const { id } = await accepted();
    const made = await credit(id, { reason: 'error' });
    await settled(made.creditNote.id);
    expect((await credit(id, { reason: 'error' })).code).toBe('credit_exceeds_invoice');
    const stored = service.app.store.db.collection<{ _id: string }>('invoices');
    await stored.updateOne({ _id: made.creditNote.id }, { $set: { status: 'rejected' } });
    expect((await credit(id, { reason: 'error' })).creditNote.amount).toBe(41_507);
    const shown = await client.graphql(`{ invoice(id: "${id}") { creditedAmount creditNotes { nodes { status } } } }`);
    expect(shown.body.data.invoice).toMatchObject({
      creditedAmount: 41_507,
      creditNotes: { nodes: [{ status: expect.any(String) }] },
    });
  });

  it('creates one credit note for a key, and refuses the key with another input', async () => {
    const { id } = await accepted();
    const input = { reason: 'return', lines: [{ line: 2, quantity: 1 }] };
    const all = await Promise.all(Array.from({ length: 5 }, () => credit(id, input, 'k-1')));
    const made = all.filter(({ creditNote }) => creditNote);
    expect(new Set(made.map(({ creditNote }) => creditNote.id)).size).toBe(1);
    expect(made.filter(({ replayed }) => !replayed)).toHaveLength(1);
    const again = await credit(id, input, 'k-1');
    expect(again).toMatchObject({ replayed: true, creditNote: { id: made[0].creditNote.id, status: 'pending' } });
    expect(await credit(id, { ...input, note: 'x' }, 'k-1')).toMatchObject({ code: 'idempotency_conflict' });
  });

  it('takes nothing of an invoice for which a key was refused', async () => {
    const [a, b] = [await accepted(), await accepted()];
    const results = await Promise.all([a, b].map(({ id }) => credit(id, { reason: 'error' }, 'one key')));
    expect(results.filter(({ creditNote }) => creditNote)).toHaveLength(1);
    expect(results.map(({ code }) => code)).toContain('idempotency_conflict');
    for (const [nth, { id }] of [a, b].entries()) {
      const shown = await client.graphql(`{ invoice(id: "${id}") { creditedAmount } }`);
      expect(shown.body.data.invoice.creditedAmount).toBe(results[nth].creditNote ? 41_507 : 0);
      if (!results[nth].creditNote) expect((await credit(id, { reason: 'error' })).creditNote.amount).toBe(41_507);
    }
  });

  it.each<[what: string, input: object, code: string]>([
    ['a line that the invoice lacks', { lines: [{ line: 3, quantity: 1 }] }, 'invalid_request'],
    ['more than a line has', { lines: [{ line: 1, quantity: 4 }] }, 'invalid_request'],
    ['more than a rate has', { amounts: [{ taxRate: 10, net: 5_004 }] }, 'credit_exceeds_invoice'],
    ['a rate without lines', { amounts: [{ taxRate: 7, net: 1 }] }, 'credit_exceeds_invoice'],
    ['no lines', { lines: [] }, 'invalid_request'],
    ['lines and amounts', { lines: [{ line: 1, quantity: 1 }], amounts: [{ taxRate: 10, net: 1 }] }, 'invalid_request'],
  ])('refuses %s', async (_what, input, code) => {
    const { id } = await accepted();
    expect(await credit(id, { reason: 'error', ...input })).toMatchObject({ __typename: 'InvalidInputError', code });
  });

  it('refuses invoices that are not accepted, unknown, or of another tenant', async () => {
    const { body: rejected } = await client.post(
      '/v1/invoices',
      invoiceBody({ customer: { ice: '999000000000102', name: 'N' } }),
    );
    await client.settled(rejected.id);
    expect(await credit(rejected.id, { reason: 'error' })).toMatchObject({ code: 'invoice_not_accepted', status: 422 });
    const { id } = await accepted();
    const other = new Client(service.url, (await service.tenant()).secretKey);
    for (const [by, invoiceId] of [
      [other, id],
      [client, 'inv_00000000-0000-4000-8000-000000000000'],
      [client, 'crn_00000000-0000-4000-8000-000000000000'],
    ] as const) {
      const { body } = await by.graphql(CREDIT, { id: invoiceId, input: { reason: 'error' } });
      expect(body.data.creditInvoice).toMatchObject({ code: 'resource_not_found', status: 404 });
    }
  });
});

const EARLIER = `mutation ($input: CreditEarlierInvoiceInput!, $key: String) {
  creditEarlierInvoice(input: $input, idempotencyKey: $key) {
    __typename
    ... on CreditEarlierInvoicePayload { replayed creditNote { id amount invoice { id number issueDate dgiId } } }
    ... on Error { code message param status } } }`;

describe('creditEarlierInvoice', () => {
  const input = {
    number: 'FA/2025/17',
    issueDate: '2025-03-31',
    reason: 'return',
    note: 'Livré deux fois',
    customer: { ice: '001525713000085', name: 'Atlas Distribution SARL' },
    lines: [{ description: 'Eau', quantity: 3, unitPrice: 1_001, taxRate: 7 }],
  };
  const creditEarlier = async (changes: object = {}, key: string | null = null) =>
    (await client.graphql(EARLIER, { input: { ...input, ...changes }, key })).body.data.creditEarlierInvoice;

  it('credits an invoice of another system at a rate of its time, which the authority accepts', async () => {
    const made = await creditEarlier();
    const invoice = { id: null, number: 'FA/2025/17', issueDate: '2025-03-31', dgiId: null };
    expect(made).toMatchObject({ replayed: false, creditNote: { amount: 3_213, invoice } });
    const note = await settled(made.creditNote.id);
    expect(note).toMatchObject({
      status: 'accepted',
      number: expect.stringMatching(/^AV-/),
      totals: { taxTotals: [{ rate: 7, base: 3_003, tax: 210 }] },
    });
    const xml = await (await fetch(note.documents.xml.url)).text();
    expect(xml).toMatch(
      /<cac:InvoiceDocumentReference><cbc:ID[^>]*>FA\/2025\/17<\/cbc:ID><cbc:IssueDate[^>]*>2025-03-31</,
    );
    expect((await fetch(note.documents.pdf.url)).status).toBe(200);
  });

  it('creates one credit note for a key', async () => {
    const first = await creditEarlier({}, 'earlier-1');
    expect(await creditEarlier({}, 'earlier-1')).toMatchObject({ replayed: true, creditNote: first.creditNote });
    expect(await creditEarlier({ number: 'FA/2025/18' }, 'earlier-1')).toMatchObject({ code: 'idempotency_conflict' });
    expect(await credit((await accepted()).id, { reason: 'error' }, 'earlier-1')).toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  it.each<[what: string, changes: object, code: string, param: string]>([
    ['a date to come', { issueDate: '2999-01-01' }, 'invalid_date', 'issueDate'],
    ['a date that is long ago', { issueDate: '2001-01-01' }, 'invalid_date', 'issueDate'],
    ['no date', { issueDate: '2025-02-30' }, 'invalid_request', 'issueDate'],
    ['an empty number', { number: ' ' }, 'invalid_request', 'number'],
    ['a short ICE', { customer: { ice: '1', name: 'N' } }, 'invalid_ice', 'customer.ice'],
    ['another amount', { amount: 3_300 }, 'amount_mismatch', 'amount'],
    ['no lines', { lines: [] }, 'invalid_request', 'lines'],
  ])('refuses %s', async (_what, changes, code, param) => {
    expect(await creditEarlier(changes)).toMatchObject({ __typename: 'InvalidInputError', code, param });
  });

  it('refuses an invoice of this service, of which it would not know what is left', async () => {
    const { number } = await accepted();
    const alike = [
      number,
      ` ${number}`,
      `${number} `,
      `${number}\u200b`,
      number.replace('-', '\u2010'),
      `\u202d${number}`,
    ];
    for (const written of [...alike, number.replace('0', '\uff10'), number.replace('-', '\u2212')])
      expect(await creditEarlier({ number: written })).toMatchObject({ code: 'invalid_request', param: 'number' });
  });
});

describe('a credit note', () => {
  it('is read with a secret key or its own client_secret, not with those of its invoice', async () => {
    const invoice = await accepted();
    const made = await credit(invoice.id, { reason: 'error' });
    const { id } = made.creditNote;
    const as = (credential: string) => new Client(service.url, credential);
    const read = async (by: Client, secret: string | null = null) => {
      const { body } = await by.graphql(READ, { id, secret });
      return body.data?.creditNote?.id ?? body.errors[0].extensions.status;
    };
    expect(await read(client)).toBe(id);
    expect(await read(as(made.clientSecret))).toBe(id);
    expect(await read(as(tenant.publishableKey), made.clientSecret)).toBe(id);
    expect(await read(as(invoice.client_secret))).toBe(403);
    expect(await read(as(tenant.publishableKey))).toBe(403);
    expect(await read(as(tenant.publishableKey), invoice.client_secret)).toBe(403);
    expect(await read(as((await service.tenant()).secretKey))).toBe(404);
    const why = async (credential: string, secret: string | null = null) =>
      (await as(credential).graphql(READ, { id, secret })).body.errors[0].message;
    const other = (await credit((await accepted()).id, { reason: 'error' })).clientSecret;
    expect([
      await why(invoice.client_secret),
      await why(other),
      await why(tenant.publishableKey),
      await why(tenant.publishableKey, other),
    ]).toEqual([
      'This client_secret gives access to its own invoice only.',
      'This client_secret gives access to its own credit note only.',
      'A publishable key reads a credit note only with its client_secret: pass that too.',
      'This client_secret belongs to another credit note.',
    ]);
    const shown = await as(invoice.client_secret).graphql(
      `{ invoice(id: "${invoice.id}") { creditedAmount creditNotes { nodes { id } } } }`,
    );
    expect(shown.body.data.invoice).toEqual({ creditedAmount: null, creditNotes: { nodes: [] } });
  });

  it('has new URLs, and its mail again, by mutations of its own', async () => {
    const invoice = await accepted();
    const { creditNote } = await credit(invoice.id, { reason: 'error' });
    const before = (await settled(creditNote.id)).documents;
    const revoke = (id: string) => `mutation { revokeCreditNoteDocumentUrls(id: "${id}") {
      ... on RevokeCreditNoteDocumentUrlsPayload { creditNote { id documents { xml { url } pdf { url } } } }
      ... on Error { code status } } }`;
    const resend = (id: string) => `mutation { resendCreditNoteEmail(id: "${id}", to: "compta@example.com") {
      ... on ResendCreditNoteEmailPayload { creditNote { id email { status to attempts } } }
      ... on Error { code status } } }`;
    const { documents } = (await client.graphql(revoke(creditNote.id))).body.data.revokeCreditNoteDocumentUrls
      .creditNote;
    for (const name of ['xml', 'pdf']) {
      const statuses = [before[name].url, documents[name].url].map(async (url) => (await fetch(url)).status);
      expect(await Promise.all(statuses)).toEqual([404, 200]);
    }
    expect((await client.graphql(resend(creditNote.id))).body.data.resendCreditNoteEmail.creditNote).toEqual({
      id: creditNote.id,
      email: { status: 'waiting', to: 'compta@example.com', attempts: 0 },
    });
    const shown = `{ creditNote(id: "${creditNote.id}") { email { status to } } }`;
    await expect
      .poll(async () => (await client.graphql(shown)).body.data.creditNote.email, { timeout: 30_000 })
      .toEqual({ status: 'sent', to: 'compta@example.com' });
    // Each mutation knows its own kind only, and no other tenant's documents.
    const unknown = { code: 'resource_not_found', status: 404 };
    const stranger = new Client(service.url, (await service.tenant()).secretKey);
    const answers = [
      await client.graphql(revoke(invoice.id)),
      await client.graphql(resend(invoice.id)),
      await client.graphql(
        revoke(creditNote.id).replaceAll('evokeCreditNoteD', 'evokeD').replace('creditNote {', 'invoice {'),
      ),
      await client.graphql(
        resend(creditNote.id).replaceAll('CreditNoteEmail', 'InvoiceEmail').replace('creditNote {', 'invoice {'),
      ),
      await stranger.graphql(revoke(creditNote.id)),
      await stranger.graphql(resend(creditNote.id)),
    ];
    expect(answers.map(({ body }) => Object.values(body.data)[0])).toEqual(answers.map(() => unknown));
  });

  it('says why the authority rejected it, and has its events, attempts and history', async () => {
    const input = `{ number: "F 77", issueDate: "2025-11-03", reason: other,
      customer: { ice: "999000000000102", name: "Atlas" },
      lines: [{ description: "Livre", quantity: 1, unitPrice: 10000, taxRate: 7 }] }`;
    const made = await client.graphql(`mutation { creditEarlierInvoice(input: ${input}) {
      ... on CreditEarlierInvoicePayload { creditNote { id } } } }`);
    const { id } = made.body.data.creditEarlierInvoice.creditNote;
    expect((await settled(id)).rejectionReason).toMatch(/ICE 999000000000102 .* créez un nouvel avoir/);
    const { body } = await client.graphql(`{ creditNote(id: "${id}") {
      problems { code path } events { type } timeline { status } authorityAttempts { purpose outcome } attention { reason } } }`);
    expect(body.data.creditNote).toEqual({
      problems: [{ code: 'ice_unknown', path: expect.stringMatching(/^\/CreditNote\/cac:AccountingCustomerParty/) }],
      events: ['signing', 'transmitted', 'rejected'].map((status) => ({ type: `credit_note_${status}` })),
      timeline: ['pending', 'signing', 'transmitted', 'rejected'].map((status) => ({ status })),
      authorityAttempts: expect.arrayContaining([{ purpose: 'submit', outcome: expect.any(String) }]),
      attention: null,
    });
  });

  it('is not an invoice: neither in REST nor in the lists of invoices', async () => {
    const invoice = await accepted();
    const { creditNote, clientSecret } = await credit(invoice.id, { reason: 'error' });
    await settled(creditNote.id);
    expect((await client.get(`/v1/invoices/${creditNote.id}`)).status).toBe(404);
    expect((await client.get(`/v1/invoices/${creditNote.id}/stream`)).status).toBe(404);
    expect((await new Client(service.url, clientSecret).get(`/v1/invoices/${creditNote.id}`)).status).toBe(404);
    const { body } = await client.get('/v1/invoices?limit=100');
    expect(body.data.map(({ id }: { id: string }) => id)).not.toContain(creditNote.id);
    const listed = await client.graphql('{ invoices(first: 100) { nodes { id } } }');
    expect(listed.body.data.invoices.nodes.map(({ id }: { id: string }) => id)).not.toContain(creditNote.id);
    const asInvoice = await client.graphql(`{ invoice(id: "${creditNote.id}") { id } }`);
    expect(asInvoice.body.errors[0].extensions.status).toBe(404);
    const node = await client.graphql(`{ node(id: "${creditNote.id}") { __typename id } }`);
    expect(node.body.data.node).toEqual({ __typename: 'CreditNote', id: creditNote.id });
  });
});
