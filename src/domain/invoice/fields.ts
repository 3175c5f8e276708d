import { z } from 'zod';
import { bankAccountDigits } from '../bank-account.ts';
import { PRICE_PLACES, QUANTITY_PLACES } from '../decimal.ts';
import { emailAddress } from '../email-address.ts';
import { expected } from '../input-problems.ts';
import { MIN_AMOUNT } from '../limits.ts';
import { CURRENCY } from '../money.ts';
import { PAYMENT_MEANS_NAMES } from '../payment-means.ts';
import { filledText, oneLineText, printableText } from '../printable-text.ts';
import { DEFAULT_CUSTOMER_KIND } from './customer-kind.ts';
import { MOST_DEPOSITS } from './deduction.ts';
import { DOCUMENT_CHARGE, DOCUMENT_DISCOUNT, LINE_DISCOUNT } from './discount-fields.ts';
import { LINE_EXEMPTION } from './exemption-fields.ts';
import {
  centimes,
  country,
  currency,
  customerKind,
  DATE_YEARS,
  date,
  decimalQuantity,
  depositIds,
  LIMITS,
  metadata,
  orDefault,
  ownNumber,
  quantity,
  statedAmount,
  taxRate,
  unit,
  unitPrice,
} from './field-input.ts';
import type { RecordType } from './field-table.ts';
import { FOREIGN_VALUE, INVOICE_REFERENCES, SERVICE_PERIOD, WITHHOLDING } from './particulars-fields.ts';
import { plainAmount, plainDescription, plainQuantity, plainUnitPrice } from './plain-line.ts';
import { DEFAULT_TAX_RATE, TAX_RATE_DESCRIPTION } from './tax-rate.ts';

// The fields of an invoice, one row each (docs/api/contract.md, "Invoice"). These tables define the inputs of REST and
// GraphQL, what creation stores, the draft for validation, the answers of both APIs, the data of events, and the
// documentation.

const ICE = z.string({ error: expected('a string of 15 digits') });

export const CUSTOMER = {
  name: 'Customer',
  inputName: 'CustomerInput',
  restName: 'Customer',
  restInputName: 'CustomerInput',
  description: 'The buyer.',
  fields: {
    kind: {
      rest: null,
      type: 'customerKind',
      input: customerKind,
      otherwise: DEFAULT_CUSTOMER_KIND,
      description: 'What the customer is.',
      inputDescription: `What the customer is. Default: \`${DEFAULT_CUSTOMER_KIND}\`, also for null.`,
    },
    ice: {
      rest: 'ice',
      type: 'ice',
      input: ICE.nullish(),
      restInput: {
        input: ICE.meta({ pattern: '^[0-9]{15}$' }),
        inputDescription: 'Identifiant commun de l’entreprise: exactly 15 digits.',
      },
      nullable: true,
      description:
        'Identifiant commun de l’entreprise: exactly 15 digits. Null for a customer who has none; such invoices are created with GraphQL.',
      inputDescription: 'Identifiant commun de l’entreprise: exactly 15 digits. A company has one, others have none.',
      example: '001234567000062',
    },
    name: {
      rest: 'name',
      type: 'text',
      input: filledText(LIMITS.name, 'the name of the company or person, a string'),
      restInput: {
        input: filledText(LIMITS.name, 'the company name, a string'),
        inputDescription: `Company name, at most ${LIMITS.name} characters.`,
      },
      description: `Company name, at most ${LIMITS.name} characters.`,
      inputDescription: `The name of the company or person, at most ${LIMITS.name} characters.`,
      example: 'Atlas Distribution SARL',
    },
    address: {
      rest: 'address',
      type: 'text',
      input: printableText(LIMITS.address, 'a string: the full address').nullish(),
      secretKeyOnly: true,
      description: 'Full address; shown to a secret key only.',
      inputDescription: `Full address, at most ${LIMITS.address} characters.`,
      example: '12, rue des Orangers, Casablanca',
    },
    email: {
      rest: 'email',
      type: 'text',
      input: emailAddress().nullish(),
      secretKeyOnly: true,
      description: 'Where the signed PDF is sent; shown to a secret key only.',
      inputDescription: 'Where the signed PDF is sent.',
      example: 'compta@example.com',
    },
    country: {
      rest: null,
      type: 'text',
      input: country.nullish(),
      description: 'The country of a customer abroad, ISO 3166-1 alpha-2; null: Morocco.',
      inputDescription: 'The country of a customer abroad, ISO 3166-1 alpha-2, such as `FR`; of no other customer.',
    },
    taxNumber: {
      rest: null,
      type: 'text',
      input: oneLineText(LIMITS.taxNumber, 'the tax number of a customer abroad').nullish(),
      description: 'The tax number of a customer abroad, as in its country; null if not stated.',
      inputDescription: `The tax number of a customer abroad, as in its country, at most ${LIMITS.taxNumber} characters.`,
    },
  },
} as const satisfies RecordType;

const DESCRIPTION = filledText(LIMITS.description, 'the designation, a string');
const DESCRIPTION_TEXT = `Designation of the service or product, at most ${LIMITS.description} characters.`;

export const INVOICE_LINE = {
  name: 'InvoiceLine',
  inputName: 'InvoiceLineInput',
  restName: 'Line',
  restInputName: 'LineInput',
  description: 'One line of an invoice.',
  fields: {
    description: {
      rest: 'description',
      type: 'text',
      narrowed: {
        from: 'plainDescription',
        of: plainDescription,
        type: 'text',
        input: DESCRIPTION,
        description: DESCRIPTION_TEXT,
      },
      input: DESCRIPTION,
      description: DESCRIPTION_TEXT,
      example: 'Conseil',
    },
    quantity: {
      rest: 'quantity',
      type: 'decimal',
      narrowed: {
        from: 'plainQuantity',
        of: plainQuantity,
        type: 'integer',
        input: quantity,
        description: 'A positive integer.',
      },
      input: decimalQuantity,
      minimum: 1,
      description: `How much: a positive number with at most ${QUANTITY_PLACES} decimals.`,
      example: 1,
    },
    unit: {
      rest: null,
      type: 'unit',
      input: unit.nullish(),
      description: 'The unit of the quantity; null: pieces, or a unit that the description states.',
      inputDescription: 'The unit of the quantity. Default: none, which means pieces.',
    },
    unitPrice: {
      rest: 'unit_price',
      type: 'decimal',
      narrowed: {
        from: 'plainUnitPrice',
        of: plainUnitPrice,
        type: 'centimes',
        input: centimes,
        description: 'Unit price excluding tax, in centimes.',
      },
      input: unitPrice,
      description: `Unit price in centimes, with at most ${PRICE_PLACES} decimals (a dirham has four), excluding tax unless \`taxIncluded\`.`,
      example: 10_000,
    },
    taxIncluded: {
      rest: null,
      type: 'boolean',
      input: z.boolean({ error: expected('true or false') }).nullish(),
      description: 'Whether the unit price and the discount include tax; null: they do not.',
      inputDescription:
        'Whether the unit price and the discount include tax. The total with tax is then exactly the sum of these prices. Default: false.',
    },
    discount: {
      rest: null,
      record: LINE_DISCOUNT,
      input: 'optional',
      description: 'A reduction of the price; null if there is none.',
      inputDescription: 'A reduction of the price: `amount` or `percent`.',
    },
    taxRate: {
      rest: 'tax_rate',
      type: 'taxRate',
      input: orDefault(taxRate, DEFAULT_TAX_RATE),
      description: TAX_RATE_DESCRIPTION,
      inputDescription: `${TAX_RATE_DESCRIPTION} Default: ${DEFAULT_TAX_RATE}, also for null.`,
      example: DEFAULT_TAX_RATE,
    },
    exemption: {
      rest: null,
      record: LINE_EXEMPTION,
      input: 'optional',
      description: 'Why a line at 0 % has no VAT; null: for the reason of the seller’s profile, if that has one.',
      inputDescription:
        'Why a line at 0 % has no VAT; of no other line. Default: the reason of the seller’s profile, if that has one.',
    },
    amount: {
      rest: 'amount',
      type: 'centimes',
      narrowed: {
        from: 'plainAmount',
        of: plainAmount,
        type: 'centimes',
        description: 'Quantity times unit price, excluding tax, in centimes.',
      },
      description: 'Quantity times unit price less the discount, excluding tax, in centimes.',
      example: 10_000,
    },
    finalAmount: {
      rest: null,
      type: 'centimes',
      nullable: true,
      description:
        'The amount less its share of the discount of the whole document, with its share of the charge; null if the document has neither.',
    },
    depositShare: {
      rest: null,
      type: 'centimes',
      nullable: true,
      description: 'Its share of the deducted deposits, excluding tax, in centimes; null if the document deducts none.',
    },
  },
} as const satisfies RecordType;

export const INVOICE_TERMS = {
  name: 'InvoiceTerms',
  inputName: 'InvoiceTermsInput',
  restName: 'Terms',
  restInputName: 'TermsInput',
  description: 'Dates and payment. Dates are calendar dates in Morocco.',
  fields: {
    operationDate: {
      rest: 'operation_date',
      type: 'text',
      input: date.nullish(),
      description: 'When the goods were delivered or the service was done: `2026-01-31`.',
      inputDescription: `When the goods were delivered or the service was done, such as \`2026-01-31\`: at most ${DATE_YEARS.operationBefore} years before the date of the invoice and ${DATE_YEARS.operationAfter} year after it.`,
    },
    dueDate: {
      rest: 'due_date',
      type: 'text',
      input: date.nullish(),
      description: 'When payment is due: `2026-03-02`.',
      inputDescription: `When payment is due: the date of the invoice, or up to ${DATE_YEARS.dueAfter} years after it.`,
    },
    paymentMode: {
      rest: 'payment_mode',
      type: 'text',
      input: oneLineText(LIMITS.paymentMode, 'how the invoice is paid, in words').nullish(),
      nullable: false,
      description: 'How to pay, in words: `Virement bancaire`.',
      inputDescription: `How to pay, in words, at most ${LIMITS.paymentMode} characters. An invoice that has this or \`paymentMeans\` takes neither from the profile: send both, or \`paymentMeans\` only.`,
    },
    paymentMeans: {
      rest: 'payment_means',
      type: 'paymentMeans',
      input: z
        .enum(PAYMENT_MEANS_NAMES, { error: expected(`one of ${PAYMENT_MEANS_NAMES.join(', ')}`) })
        .meta({ id: 'PaymentMeans' })
        .nullish(),
      example: 'transfer',
      description: 'How to pay, as a code; null where it is not known.',
      inputDescription: 'How to pay, as a code.',
    },
    paymentReference: {
      rest: 'payment_reference',
      type: 'text',
      input: oneLineText(LIMITS.paymentReference, 'what the buyer is to quote').nullish(),
      description: 'What the buyer quotes: the number of the invoice, unless it was created with another reference.',
      inputDescription: `What the buyer quotes, at most ${LIMITS.paymentReference} characters. Default: the number of the invoice.`,
    },
    bankAccount: {
      rest: 'bank_account',
      type: 'text',
      input: bankAccountDigits().nullish(),
      description: 'The account to pay to: a RIB, 24 digits.',
      inputDescription: 'The account to pay to: a RIB, 24 digits, with its check key.',
    },
  },
} as const satisfies RecordType;

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
      nullable: false,
      description:
        'Dates and payment as the documents state them: those the invoice was created with, else those of the seller’s profile at that time.',
      inputDescription: 'Dates and payment. What is left out is taken from the seller’s profile.',
    },
    references: {
      rest: null,
      record: INVOICE_REFERENCES,
      input: 'optional',
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
      input: z.boolean({ error: expected('true or false') }).nullish(),
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
