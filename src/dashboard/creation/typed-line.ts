import { PRICE_PLACES, QUANTITY_PLACES, scaled } from '../../domain/decimal.ts';
import { UNITS, type Unit } from '../../domain/invoice/units.ts';
import { EXEMPTIONS, type ExemptionCode } from '../../domain/morocco/exemptions.ts';
import { decimalOf, plainUnitPrice, unitPriceOf } from '../text/money.ts';
import type { InvoiceInput } from './documents.ts';
import { discountOf, PERCENT, typedDiscountOf } from './typed-discount.ts';
import { recordOf, textOf, UNREADABLE, withComma } from './typed-values.ts';

/** A line of the invoice, as typed. */
export interface TypedLine {
  readonly description: string;
  /** A number with up to three decimals. */
  readonly quantity: string;
  /** The code of a unit; empty: pieces. */
  readonly unit?: string;
  /** In dirhams, with up to four decimals, excluding tax unless `taxIncluded`: `1234,50`. */
  readonly unitPrice: string;
  readonly taxIncluded?: boolean;
  /** `10 %`, or an amount in dirhams; empty: none. */
  readonly discount?: string;
  /** Why, which the form does not show; kept from the line that the form began with. */
  readonly discountReason?: string | null;
  /** Percent. */
  readonly taxRate: string;
  /** The code of an exemption, of a line at 0 %; empty: none. */
  readonly exemption?: string;
  readonly certificateNumber?: string;
  /** `YYYY-MM-DD`. */
  readonly certificateDate?: string;
}

type InputLine = InvoiceInput['lines'][number];

/** The initial content of a line: empty, except for the most frequent quantity and rate. */
export const EMPTY_LINE: TypedLine = { description: '', quantity: '1', unitPrice: '', taxRate: '20' };

/** Converts a line to that of the API. Members that it does not state are left out. */
export function lineOf({ description, quantity, unitPrice, taxRate, ...further }: TypedLine) {
  const { unit, taxIncluded, discount, discountReason } = further;
  const reduction = discountOf(discount ?? '', discountReason);
  return {
    description,
    quantity: decimalOf(quantity, QUANTITY_PLACES) ?? UNREADABLE,
    ...(unit && { unit: unit as Unit }),
    unitPrice: unitPriceOf(unitPrice) ?? UNREADABLE,
    ...(taxIncluded && { taxIncluded }),
    ...(reduction && { discount: reduction }),
    taxRate: percentOf(taxRate),
    ...(percentOf(taxRate) === 0 && exemptionOf(further)),
  } satisfies InputLine;
}

/** Returns a line of an invoice or of a draft, which may be anything, as the form shows it. */
export function typedLineOf(line: unknown): TypedLine {
  const { description, quantity, unit, unitPrice, taxIncluded, discount, taxRate, exemption } = recordOf(line);
  const { code, certificate } = recordOf(exemption);
  return {
    description: textOf(description),
    quantity: typeof quantity === 'number' ? withComma(quantity) : textOf(quantity),
    unit: Object.hasOwn(UNITS, textOf(unit)) ? textOf(unit) : '',
    unitPrice: isUnitPrice(unitPrice) ? plainUnitPrice(unitPrice) : textOf(unitPrice),
    taxIncluded: taxIncluded === true,
    discount: typedDiscountOf(discount),
    discountReason: textOf(recordOf(discount).reason) || null,
    taxRate: textOf(taxRate),
    exemption: Object.hasOwn(EXEMPTIONS, textOf(code)) ? textOf(code) : '',
    certificateNumber: textOf(recordOf(certificate).number),
    certificateDate: textOf(recordOf(certificate).date),
  };
}

/** Returns the exemption that was chosen, with the certificate if anything of it was typed. */
function exemptionOf({ exemption, ...typed }: Partial<TypedLine>) {
  if (!exemption) return {};
  const [number, date] = [typed.certificateNumber?.trim() ?? '', typed.certificateDate?.trim() ?? ''];
  const certificate = number !== '' || date !== '' ? { certificate: { number, date } } : {};
  return { exemption: { code: exemption as ExemptionCode, ...certificate } };
}

function isUnitPrice(value: unknown): value is number {
  return typeof value === 'number' && scaled(value, PRICE_PLACES) !== null;
}

/** Parses `1 000` to 1000. */
function wholeOf(text: string): number {
  const digits = text.replaceAll(/\s/g, '');
  return /^\d{1,9}$/.test(digits) ? Number(digits) : UNREADABLE;
}

/** Parses `20`, `20 %` and `20,0` to 20. */
export function percentOf(text: string): number {
  return wholeOf(text.replace(PERCENT, '').replace(/[.,]0{1,2}\s*$/, ''));
}
