import { MIN_AMOUNT } from '../limits.ts';
import { CURRENCY } from '../money.ts';
import { CUSTOMER } from './customer-fields.ts';
import { MOST_DEPOSITS } from './deduction.ts';
import { DOCUMENT_CHARGE, DOCUMENT_DISCOUNT } from './discount-fields.ts';
import { currency, depositIds, flag, LIMITS, metadata, ownNumber, statedAmount } from './field-input.ts';
import type { RecordType } from './field-table.ts';
import { INVOICE_LINE } from './line-fields.ts';
import { FOREIGN_VALUE, INVOICE_REFERENCES, SERVICE_PERIOD, WITHHOLDING } from './particulars-fields.ts';
import { INVOICE_TERMS } from './terms-fields.ts';

// The fields of an invoice, one row each (docs/api/contract.md, "Invoice"). These tables define the inputs of REST and
// GraphQL, what creation stores, the draft for validation, the answers of both APIs, the data of events, and the
// documentation.

export const INVOICE = {
  name: 'Invoice',
  inputName: 'CreateInvoiceInput',
  restName: 'Invoice',
  restInputName: 'CreateInvoice',
  description: 'An electronic invoice.',
  fields: {
    id: {
      rest: 'id',
      type: 'id',
      event: 1,
      description: 'Prefix `inv_`.',
      example: 'inv_550e8400-e29b-41d4-a716-446655440000',
    },
    status: {
      rest: 'status',
      type: 'status',
      event: 3,
      description: 'Present status.',
      example: 'accepted',
    },
    amount: {
      rest: 'amount',
      type: 'centimes',
      input: statedAmount,
      minimum: MIN_AMOUNT,
      event: 4,
      description: 'Amount payable, in centimes: the total including tax, with its rounding if there is one.',
      inputDescription:
        'Total including tax, in centimes. It must equal the total of the lines with their VAT, computed once per rate and rounded half up; VAT rounded on each line may differ by up to half a centime per line.',
      example: 12_000,
    },
    currency: {
      rest: 'currency',
      type: 'currency',
      input: currency,
      event: 5,
      description: `Always \`${CURRENCY}\`.`,
      example: CURRENCY,
    },
    customer: { rest: 'customer', record: CUSTOMER, input: 'required', event: 6, description: 'The buyer.' },
    lines: {
      rest: 'lines',
      list: INVOICE_LINE,
      input: 'required',
      most: LIMITS.lines,
      description: `1 to ${LIMITS.lines} lines.`,
    },
    discount: {
      rest: null,
      record: DOCUMENT_DISCOUNT,
      input: 'optional',
      description: 'A reduction of the sum of all lines; null if there is none.',
      inputDescription: 'A reduction of the sum of all lines: `amount` or `percent`.',
    },
    charge: {
      rest: null,
      record: DOCUMENT_CHARGE,
      input: 'optional',
      description: 'What is added to the sum of all lines, such as delivery; null if there is nothing.',
      inputDescription: 'What is added to the sum of all lines, such as delivery: `amount` or `percent`.',
    },
    metadata: {
      rest: 'metadata',
      type: 'metadata',
      input: metadata,
      event: 10,
      description: "The client's own data, echoed back.",
      inputDescription: `Free key/value data, echoed back: at most ${LIMITS.metadataKeys} keys of ${LIMITS.metadataKey} characters with values of ${LIMITS.metadataValue}. Default: empty.`,
      example: { order: '4711' },
    },
    'documents.xml.url': {
      rest: 'xml_url',
      type: 'url',
      nullable: true,
      event: 8,
      description: 'URL of the signed XML; null until accepted.',
      example: 'https://example.com/files/inv_550e8400-e29b-41d4-a716-446655440000/capability.xml',
    },
    'documents.pdf.url': {
      rest: 'pdf_url',
      type: 'url',
      nullable: true,
      event: 9,
      description: 'URL of the PDF; null until accepted.',
      example: 'https://example.com/files/inv_550e8400-e29b-41d4-a716-446655440000/capability.pdf',
    },
    dgiId: {
      rest: 'dgi_id',
      type: 'text',
      nullable: true,
      event: 7,
      description: "The tax authority's identifier; set only when accepted.",
      example: 'DGI-2026-000123',
    },
    rejectionReason: {
      rest: 'rejection_reason',
      type: 'text',
      nullable: true,
      event: 11,
      description: 'Free text; set only when rejected.',
    },
    createdAt: {
      rest: 'created_at',
      type: 'timestamp',
      event: 12,
      description: 'When it was created.',
      example: '2026-01-31T12:00:00Z',
    },
    updatedAt: {
      rest: 'updated_at',
      type: 'timestamp',
      event: 13,
      description: 'When the status last changed.',
      example: '2026-01-31T12:00:02Z',
    },
    number: {
      rest: 'number',
      beyond: true,
      type: 'text',
      input: ownNumber.nullish(),
      description:
        'Legal number: the one the invoice was created with, or the next one of the service’s series; null while pending.',
      inputDescription: `A number of your own series: letters A to Z and a to z, digits, and between them single spaces and \`. / _ -\`, at most ${LIMITS.number} characters; never used before in this environment. Default: the next number of the service’s series.`,
    },
    terms: {
      rest: 'terms',
      beyond: true,
      record: INVOICE_TERMS,
      input: 'optional',
      emptyIsNone: true,
      nullable: false,
      description:
        'Dates and payment as the documents state them: those the invoice was created with, else those of the seller’s profile at that time.',
      inputDescription: 'Dates and payment. What is left out is taken from the seller’s profile.',
    },
    references: {
      rest: null,
      record: INVOICE_REFERENCES,
      input: 'optional',
      emptyIsNone: true,
      description: 'The buyer’s order and the contract; null if not stated.',
      inputDescription: 'The buyer’s order and the contract.',
    },
    servicePeriod: {
      rest: null,
      record: SERVICE_PERIOD,
      input: 'optional',
      description: 'When the service was done; null if not stated.',
      inputDescription:
        'When the service was done. Without `terms.operationDate` its last day counts as the date of the operation.',
    },
    foreignValue: {
      rest: null,
      record: FOREIGN_VALUE,
      input: 'optional',
      description: 'The amount in another currency, if it was agreed on in one; else null.',
      inputDescription: 'The amount in another currency, if it was agreed on in one.',
    },
    withholding: {
      rest: null,
      record: WITHHOLDING,
      input: 'optional',
      description: 'What the buyer withholds of the VAT; null if not stated. `netToPay` is what it then pays.',
      inputDescription: 'What the buyer withholds of the VAT and pays to the State itself, if it does.',
    },
    isDeposit: {
      rest: null,
      type: 'boolean',
      input: flag,
      nullable: false,
      description: 'Whether it asks for a deposit before the sale. A final invoice may deduct it.',
      inputDescription: 'Whether it asks for a deposit before the sale. Default: false.',
    },
    deposits: {
      rest: null,
      type: 'ids',
      input: depositIds.nullish(),
      inputOnly: true,
      description: `The accepted deposit invoices of the same customer that this final invoice deducts, at most ${MOST_DEPOSITS}. \`lines\` are everything that was sold; \`amount\` is what remains to pay.`,
    },
    environment: {
      rest: null,
      type: 'environment',
      description: '`live`: transmitted to the tax authority. `test`: a mock authority decides.',
    },
  },
} as const satisfies RecordType;
