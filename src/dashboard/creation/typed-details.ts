import { decimalsOf, foreignAmountText, isForeignCurrency } from '../../domain/currencies.ts';
import { RATE_PLACES, rateText, scaled } from '../../domain/decimal.ts';
import { exchangeRateOf, foreignAmountOf } from '../text/money.ts';
import type { InvoiceInput } from './documents.ts';
import { percentOf } from './typed-line.ts';
import { recordOf, textOf, UNREADABLE } from './typed-values.ts';

/** The details that an invoice states beside its lines, as typed. Dates are `YYYY-MM-DD`. */
export interface TypedDetails {
  readonly order: string;
  readonly contract: string;
  readonly periodFrom: string;
  readonly periodTo: string;
  /** The code of a currency. */
  readonly foreignCurrency: string;
  /** In this currency, with its decimals. */
  readonly foreignAmount: string;
  /** Dirhams for one unit. */
  readonly foreignRate: string;
  readonly foreignDate: string;
  /** Of the VAT. */
  readonly withheldPercent: string;
  /** Of the seller’s certificate of tax regularity. */
  readonly regularityNumber: string;
  readonly regularityDate: string;
}

export const NO_DETAILS: TypedDetails = {
  order: '',
  contract: '',
  periodFrom: '',
  periodTo: '',
  foreignCurrency: '',
  foreignAmount: '',
  foreignRate: '',
  foreignDate: '',
  withheldPercent: '',
  regularityNumber: '',
  regularityDate: '',
};

/** The fields, in the order of the form. */
export const DETAILS = Object.keys(NO_DETAILS) as readonly (keyof TypedDetails)[];

/** Whether something is typed in one of these fields. */
export function hasDetails(typed: TypedDetails): boolean {
  return DETAILS.some((name) => typed[name].trim() !== '');
}

type Details = Pick<InvoiceInput, 'references' | 'servicePeriod' | 'foreignValue' | 'withholding'>;

/** Converts the details to those of the API. A group of which nothing is typed is left out. */
export function detailsOf(typed: TypedDetails): Details {
  const text = (name: keyof TypedDetails) => typed[name].trim();
  const [order, contract, from, to] = [text('order'), text('contract'), text('periodFrom'), text('periodTo')];
  const [currency, rateDate] = [text('foreignCurrency'), text('foreignDate')];
  const certificate = { number: text('regularityNumber'), date: text('regularityDate') };
  const isCertified = certificate.number !== '' || certificate.date !== '';
  const isForeign = [currency, text('foreignAmount'), text('foreignRate'), rateDate].some((each) => each !== '');
  return {
    ...((order || contract) && { references: { ...(order && { order }), ...(contract && { contract }) } }),
    ...((from || to) && { servicePeriod: { from, to } }),
    ...(isForeign && {
      foreignValue: {
        currency,
        amount: foreignAmountOf(typed.foreignAmount, placesOf(currency)) ?? UNREADABLE,
        rate: exchangeRateOf(typed.foreignRate) ?? UNREADABLE,
        rateDate,
      },
    }),
    ...((text('withheldPercent') || isCertified) && {
      withholding: { percent: percentOf(typed.withheldPercent), ...(isCertified && { certificate }) },
    }),
  };
}

/** {@link detailsOf} for a draft: a figure that cannot be read stays as it was typed. */
export function draftDetailsOf(typed: TypedDetails): Readonly<Record<string, unknown>> {
  const { foreignValue, withholding, ...others } = detailsOf(typed);
  return {
    ...others,
    ...(foreignValue && {
      foreignValue: {
        ...foreignValue,
        ...(foreignValue.amount === UNREADABLE && { amount: typed.foreignAmount }),
        ...(foreignValue.rate === UNREADABLE && { rate: typed.foreignRate }),
      },
    }),
    ...(withholding && {
      withholding: {
        ...withholding,
        ...(withholding.percent === UNREADABLE && { percent: typed.withheldPercent }),
      },
    }),
  };
}

interface Stated {
  readonly references?: unknown;
  readonly servicePeriod?: unknown;
  readonly foreignValue?: unknown;
  readonly withholding?: unknown;
}

/** Returns the details of an invoice, or of the content of a draft, which may be anything, as the form shows them. */
export function typedDetailsOf({ references, servicePeriod, foreignValue, withholding }: Stated): TypedDetails {
  const { order, contract } = recordOf(references);
  const { from, to } = recordOf(servicePeriod);
  const { currency, amount, rate, rateDate } = recordOf(foreignValue);
  const { percent, certificate } = recordOf(withholding);
  const code = textOf(currency);
  return {
    order: textOf(order),
    contract: textOf(contract),
    periodFrom: textOf(from),
    periodTo: textOf(to),
    foreignCurrency: isForeignCurrency(code) ? code : '',
    foreignAmount: typedAmountOf(amount, code),
    foreignRate: isRate(rate) ? rateText(rate).replace('.', ',') : textOf(rate),
    foreignDate: textOf(rateDate),
    withheldPercent: textOf(percent),
    regularityNumber: textOf(recordOf(certificate).number),
    regularityDate: textOf(recordOf(certificate).date),
  };
}

function typedAmountOf(amount: unknown, currency: string): string {
  const isAmount = Number.isSafeInteger(amount) && (amount as number) >= 0;
  // A currency that is not chosen yet counts as one with two decimals.
  const known = isForeignCurrency(currency) ? currency : 'EUR';
  return isAmount ? foreignAmountText(amount as number, known).replace('.', ',') : textOf(amount);
}

function isRate(rate: unknown): rate is number {
  return typeof rate === 'number' && scaled(rate, RATE_PLACES) !== null;
}

/** Returns the number of decimals of a currency; two while none is chosen. */
function placesOf(currency: string): number {
  return isForeignCurrency(currency) ? decimalsOf(currency) : 2;
}
