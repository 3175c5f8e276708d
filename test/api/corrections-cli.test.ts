import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { runWithKey } from '../support/run-with-key.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'corrections-'));
const file = join(folder, 'corrected.json');
let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});
afterAll(() => rmSync(folder, { recursive: true }));

const cli = (...args: string[]) => runWithKey([...args, '--url', service.url], tenant.secretKey);

async function accepted(): Promise<string> {
  const lines = [{ description: 'x', quantity: 10, unit_price: 1000, tax_rate: 20 }];
  const { body } = await client.post('/v1/invoices', invoiceBody({ amount: 12_000, lines }));
  expect((await client.settled(body.id)).status).toBe('accepted');
  return body.id;
}

it('credits lines, amounts and the rest, and replaces by the JSON of REST', async () => {
  const id = await accepted();
  const credit = ['invoices', 'credit', id, '--reason', 'return'];
  const lines = await cli(...credit, '--lines', '1:2', '--idempotency-key', 'cli-1', '--json');
  expect(lines.code, lines.text).toBe(0);
  expect(JSON.parse(lines.text)).toEqual({
    credit_note: { id: expect.stringMatching(/^crn_/), amount: 2400 },
    replayed: false,
  });
  const again = await cli(...credit, '--lines', '1:2', '--idempotency-key', 'cli-1');
  expect(again).toMatchObject({ code: 0, text: expect.stringContaining('of 2400 centimes was created before') });
  const amounts = await cli(...credit, '--amounts', '20:1000', '--note', 'Remise');
  expect(amounts).toMatchObject({ code: 0, text: expect.stringContaining('of 1200 centimes is created') });
  expect(await cli(...credit, '--amounts', '20:8000')).toMatchObject({
    code: 1,
    text: expect.stringMatching(/is left/),
  });
  for (const wrong of ['1', '1:0,5', '1:0.0005', '1.5:1'])
    expect(await cli(...credit, '--lines', wrong)).toMatchObject({
      code: 2,
      text: expect.stringMatching(/pairs of a line and a quantity/),
    });
  expect(await cli(...credit, '--amounts', '20:1.5')).toMatchObject({
    code: 2,
    text: expect.stringMatching(/pairs of integers/),
  });
  expect((await cli('invoices', 'credit', id, '--reason', 'none')).code).toBe(2);

  const wrong = await accepted();
  const replace = ['invoices', 'replace', wrong, file, '--reason', 'error'];
  writeFileSync(file, '{');
  expect(await cli(...replace)).toMatchObject({ code: 2, text: expect.stringMatching(/is not JSON/) });
  writeFileSync(file, JSON.stringify({ ...invoiceBody(), lines: [] }));
  expect(await cli(...replace)).toMatchObject({ code: 2, text: expect.stringMatching(/lines/) });
  writeFileSync(file, JSON.stringify(invoiceBody()));
  const replaced = await cli(...replace, '--json');
  expect(replaced.code, replaced.text).toBe(0);
  const { invoice, credit_note } = JSON.parse(replaced.text);
  expect(credit_note.amount).toBe(12_000);
  expect((await client.settled(invoice.id)).status).toBe('accepted');
}, 120_000);

it('credits a part of hours', async () => {
  const { body } = await client.graphql(
    `mutation ($input: CreateInvoiceInput!) {
      createInvoice(input: $input) { ... on CreateInvoicePayload { invoice { id } } } }`,
    {
      input: {
        amount: 18_000,
        currency: 'MAD',
        customer: { kind: 'person', name: 'Amina Alaoui' },
        lines: [{ description: 'Conseil', quantity: 1.5, unit: 'HUR', unitPrice: 10_000 }],
      },
    },
  );
  const { id } = body.data.createInvoice.invoice;
  expect((await client.settled(id)).status).toBe('accepted');
  const credit = await cli('invoices', 'credit', id, '--reason', 'return', '--lines', '1:0.25');
  expect(credit).toMatchObject({ code: 0, text: expect.stringContaining('of 3000 centimes is created') });
});
