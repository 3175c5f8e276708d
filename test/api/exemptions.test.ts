import { expect, it } from 'vitest';
import { Client } from '../support/client.ts';
import { type TestTenant, withSharedService } from '../support/service.ts';

let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service }) => {
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const CERTIFICATE = { number: 'AC 2026/117', date: '2026-02-03' };
const line = (changes: object) => ({
  description: 'Tissu',
  quantity: 2,
  unitPrice: 5000,
  taxRate: 0,
  ...changes,
});
const EXEMPTION = 'exemption { code certificate { number date } }';

async function create(lines: readonly object[], amount = 10_000 * lines.length) {
  const { body } = await client.graphql(
    `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) {
      ... on CreateInvoicePayload { invoice { id lines { ${EXEMPTION} } warnings { code path } } }
      ... on InvalidInputError { problems { code message param status } } } }`,
    { input: { amount, currency: 'MAD', customer: { ice: '001234567000062', name: 'Atlas' }, lines } },
  );
  expect(body.errors).toBeUndefined();
  return body.data.createInvoice;
}

const aboutExemptions = (warnings: readonly { code: string; path: string }[]) =>
  warnings.filter(({ code }) => code.startsWith('exemption'));

it('exemptions of lines are stated by each line and, joined, by the VAT breakdown', async () => {
  const suspended = { code: 'suspension', certificate: CERTIFICATE };
  const { invoice } = await create([line({ exemption: suspended }), line({ exemption: { code: 'export' } })]);
  expect(invoice.lines).toEqual([{ exemption: suspended }, { exemption: { code: 'export', certificate: null } }]);
  expect(aboutExemptions(invoice.warnings)).toEqual([]);
  const settled = await client.settled(invoice.id);
  expect(settled.status).toBe('accepted');
  const xml = (await (await fetch(settled.xml_url)).text()).replaceAll(/ xmlns:\w+="[^"]*"/g, '');
  expect(xml).toContain(
    '<cbc:TaxExemptionReason>Exportation, exonérée avec droit à déduction (article 92-I-1° du CGI) ; Vente en suspension de la TVA (article 94 du CGI)<',
  );
  expect(xml).toContain(
    '<cbc:Note>Vente en suspension de la TVA (article 94 du CGI) ; attestation n° AC 2026/117 du 2026-02-03</cbc:Note>',
  );
});

it('REST shows the line at 0 %, and the exemption with include=lines', async () => {
  const suspended = { code: 'suspension', certificate: CERTIFICATE };
  const { invoice } = await create([line({ exemption: suspended }), line({ exemption: { code: 'export' } }), line({})]);
  const plain = (await client.get(`/v1/invoices/${invoice.id}`)).body;
  const shown = { description: 'Tissu', quantity: 2, unit_price: 5000, tax_rate: 0, amount: 10_000 };
  expect(plain.lines).toEqual([shown, shown, shown]);
  const { body } = await client.get(`/v1/invoices/${invoice.id}?include=lines`);
  expect(body.lines.map(({ exact }: { exact?: object }) => exact)).toMatchObject([
    { exemption_code: 'suspension', certificate_number: CERTIFICATE.number, certificate_date: CERTIFICATE.date },
    { exemption_code: 'export', certificate_number: null, certificate_date: null },
    undefined,
  ]);
});

it('warns of a suspension without a certificate, and of a line that leaves the reason to an empty profile', async () => {
  const { invoice } = await create([line({ exemption: { code: 'suspension' } }), line({})]);
  expect(aboutExemptions(invoice.warnings)).toEqual([
    { code: 'exemption_reason_missing', path: 'seller.exemptionReason' },
    { code: 'exemption_certificate_missing', path: 'lines.0.exemption.certificate' },
  ]);
});

it.each([
  ['an exemption of a line with VAT', { taxRate: 20, exemption: { code: 'export' } }, 'lines.0.exemption', 12_000],
  ['one at the default rate', { taxRate: null, exemption: { code: 'export' } }, 'lines.0.exemption', 12_000],
  ...[
    { ...CERTIFICATE, number: '1'.repeat(51) },
    { ...CERTIFICATE, number: ' ' },
  ].map(
    (certificate) =>
      [
        `a certificate with the number ${certificate.number.slice(0, 5)}`,
        { exemption: { code: 'suspension', certificate } },
        'lines.0.exemption.certificate.number',
        10_000,
      ] as const,
  ),
  [
    'a certificate of no day',
    { exemption: { code: 'suspension', certificate: { ...CERTIFICATE, date: '2026-02-30' } } },
    'lines.0.exemption.certificate.date',
    10_000,
  ],
] as const)('%s is refused', async (_what, changes, param, amount) => {
  const { problems } = await create([line(changes)], amount);
  expect(problems).toMatchObject([{ param, status: 400 }]);
});

it('credit notes keep the exemption: of lines, of a part of one, and of what is left', async () => {
  const exemption = { code: 'suspension', certificate: CERTIFICATE };
  const hours = line({ quantity: 1.5, unitPrice: 3333, exemption });
  const { invoice } = await create([hours, line({ exemption })], 15_000);
  expect((await client.settled(invoice.id)).status).toBe('accepted');
  const credit = async (input: object) => {
    const { body } = await client.graphql(
      `mutation ($id: ID!, $input: CreditInvoiceInput!) { creditInvoice(invoiceId: $id, input: $input) {
        ... on CreditInvoicePayload { creditNote { id lines { ${EXEMPTION} } } }
        ... on InvalidInputError { problems { message } } } }`,
      { id: invoice.id, input: { reason: 'return', ...input } },
    );
    return body.data.creditInvoice.creditNote;
  };
  const part = await credit({ lines: [{ line: 1, quantity: 0.7 }] });
  expect(part.lines).toEqual([{ exemption }]);
  const rest = await credit({});
  expect(rest.lines).toEqual([{ exemption }]);
});
