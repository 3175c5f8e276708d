import type { InvoiceInput } from './documents.ts';

/** The requests that create the same invoice, as programs send them. */
export const WAYS = { curl: curlOf, 'Node.js': nodeOf, GraphQL: graphqlOf } as const;
export type Way = keyof typeof WAYS;

const REST_MEMBERS: readonly string[] = ['amount', 'currency', 'customer', 'lines', 'number'];

/**
 * Returns the ways that can create the invoice: REST takes only whole quantities at whole prices, without tax and
 * exemption, and customers with an ICE.
 */
export function waysOf(input: InvoiceInput): Way[] {
  const { customer, lines } = input;
  const isBeyond = Object.keys(input).some((name) => !REST_MEMBERS.includes(name));
  const isExact = lines.some(
    ({ quantity, unitPrice, unit, taxIncluded, discount, exemption }) =>
      exemption != null ||
      unit != null ||
      taxIncluded ||
      discount != null ||
      !Number.isInteger(quantity) ||
      !Number.isInteger(unitPrice),
  );
  return isBeyond || isExact || customer.kind != null ? ['GraphQL'] : (Object.keys(WAYS) as Way[]);
}

/** Makes the body of POST /v1/invoices, whose names are in snake case. */
function restBody({ lines, ...invoice }: InvoiceInput): string {
  const named = lines.map(({ unitPrice, taxRate, ...line }) => ({ ...line, unit_price: unitPrice, tax_rate: taxRate }));
  return JSON.stringify({ ...invoice, lines: named }, null, 2);
}

function curlOf(input: InvoiceInput, origin: string): string {
  return [
    `curl ${origin}/v1/invoices \\`,
    "  -H 'Authorization: Bearer sk_test_…' \\",
    "  -H 'Content-Type: application/json' \\",
    `  -H 'Idempotency-Key: ${keyOf()}' \\`,
    // A quotation mark would end the shell's string, so it is written outside of it.
    `  -d '${restBody(input).replaceAll("'", "'\\''")}'`,
  ].join('\n');
}

function nodeOf(input: InvoiceInput, origin: string): string {
  return [
    `const response = await fetch('${origin}/v1/invoices', {`,
    "  method: 'POST',",
    '  headers: {',
    "    Authorization: 'Bearer sk_test_…',",
    "    'Content-Type': 'application/json',",
    `    'Idempotency-Key': '${keyOf()}',`,
    '  },',
    `  body: JSON.stringify(${restBody(input).replaceAll('\n', '\n  ')}),`,
    '});',
    'const invoice = await response.json();',
  ].join('\n');
}

function graphqlOf(input: InvoiceInput): string {
  return [
    'mutation ($input: CreateInvoiceInput!) {',
    '  createInvoice(input: $input) {',
    '    ... on CreateInvoicePayload { invoice { id status } clientSecret }',
    '    ... on Error { code message param }',
    '  }',
    '}',
    '',
    JSON.stringify({ input }, null, 2),
  ].join('\n');
}

/** Makes an order number as an example of the caller's own idempotency key. */
function keyOf(): string {
  return 'order-4711';
}
