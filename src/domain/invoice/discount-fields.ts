import { PERCENT_PLACES } from '../decimal.ts';
import { oneLineText } from '../printable-text.ts';
import { discountAmount, discountPercent, flag, LIMITS } from './field-input.ts';
import type { RecordType } from './field-table.ts';

// The fields of discounts and charges, an amount or a percentage each, for the table of an invoice's fields.

const reason = {
  rest: null,
  type: 'text',
  input: oneLineText(LIMITS.discountReason, 'why, in words').nullish(),
  description: 'Why, in words.',
  inputDescription: `Why, in words, at most ${LIMITS.discountReason} characters.`,
} as const;

const percentInput = discountPercent.nullish();
const percentLimits = `above 0, up to 100, at most ${PERCENT_PLACES} decimals`;

export const LINE_DISCOUNT = {
  name: 'Discount',
  inputName: 'DiscountInput',
  restName: 'Discount',
  restInputName: 'DiscountInput',
  description: 'A reduction of the price of a line: an amount or a percentage.',
  fields: {
    amount: {
      rest: null,
      type: 'centimes',
      input: discountAmount.nullish(),
      description: 'In centimes, with tax if the unit price has it; null if it is a percentage.',
      inputDescription: 'In centimes, with tax if the unit price has it, at most the price of the line.',
    },
    percent: {
      rest: null,
      type: 'decimal',
      input: percentInput,
      description: 'Of quantity times unit price; null if it is an amount.',
      inputDescription: `Of quantity times unit price: ${percentLimits}.`,
    },
    reason,
  },
} as const satisfies RecordType;

const amount = {
  rest: null,
  type: 'centimes',
  input: discountAmount.nullish(),
  description: 'In centimes, with tax if `taxIncluded`; null if it is a percentage.',
} as const;

const percent = {
  rest: null,
  type: 'decimal',
  input: percentInput,
  description: 'Of the sum of the lines, with tax if `taxIncluded`; null if it is an amount.',
  inputDescription: `Of the sum of the lines, with tax if \`taxIncluded\`: ${percentLimits}.`,
} as const;

const taxIncluded = {
  rest: null,
  type: 'boolean',
  input: flag,
  description: 'Whether it includes tax; null: it does not.',
} as const;

export const DOCUMENT_DISCOUNT = {
  name: 'DocumentDiscount',
  inputName: 'DocumentDiscountInput',
  restName: 'DocumentDiscount',
  restInputName: 'DocumentDiscountInput',
  description: 'A reduction of the sum of all lines, an amount or a percentage, spread over the rates of VAT.',
  fields: {
    amount: { ...amount, inputDescription: 'In centimes, with tax if `taxIncluded`, at most the sum of the lines.' },
    percent,
    taxIncluded: {
      ...taxIncluded,
      inputDescription:
        'Whether it includes tax. The total with tax is then exactly the one of the lines less the discount. Default: false.',
    },
    reason,
  },
} as const satisfies RecordType;

export const DOCUMENT_CHARGE = {
  name: 'DocumentCharge',
  inputName: 'DocumentChargeInput',
  restName: 'DocumentCharge',
  restInputName: 'DocumentChargeInput',
  description:
    'What is added to the sum of all lines, such as delivery or packaging: an amount or a percentage, spread over the rates of VAT.',
  fields: {
    amount: { ...amount, inputDescription: 'In centimes, with tax if `taxIncluded`.' },
    percent,
    taxIncluded: {
      ...taxIncluded,
      inputDescription:
        'Whether it includes tax. The total with tax is then exactly the one of the lines and the charge. Default: false.',
    },
    reason,
  },
} as const satisfies RecordType;
