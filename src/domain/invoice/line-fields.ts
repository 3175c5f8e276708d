import { PRICE_PLACES, QUANTITY_PLACES } from '../decimal.ts';
import { filledText } from '../printable-text.ts';
import { LINE_DISCOUNT } from './discount-fields.ts';
import { LINE_EXEMPTION } from './exemption-fields.ts';
import {
  centimes,
  decimalQuantity,
  flag,
  LIMITS,
  orDefault,
  quantity,
  taxRate,
  unit,
  unitPrice,
} from './field-input.ts';
import type { RecordType } from './field-table.ts';
import { plainAmount, plainDescription, plainQuantity, plainUnitPrice } from './plain-line.ts';
import { DEFAULT_TAX_RATE, TAX_RATE_DESCRIPTION } from './tax-rate.ts';

// The fields of a line, one row each: a part of the tables of an invoice (`fields.ts`).

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
      input: flag,
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
