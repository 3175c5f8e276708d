import { QUANTITY_PLACES } from '../../domain/decimal.ts';
import { UNREADABLE } from '../creation/typed-values.ts';
import { centimesOf, decimalOf } from '../text/money.ts';
import type { CreditInput } from './documents.ts';

/** The ways to credit: all that is left, quantities of lines, or amounts at rates of VAT. */
export const WAYS = ['rest', 'lines', 'amounts'] as const;

/** The form as typed. Texts of the ways that are not chosen are kept. */
export interface TypedCredit {
  readonly way: (typeof WAYS)[number];
  /** Quantities by the position of the line, starting at 1. */
  readonly quantities: ReadonlyMap<number, string>;
  /** Amounts in dirhams, excluding tax, by rate in percent. */
  readonly nets: ReadonlyMap<number, string>;
  /** Empty until a reason is chosen. */
  readonly reason: CreditInput['reason'] | '';
  readonly note: string;
}

/** The ids of the form's fields. */
export const fieldOfLine = (line: number) => `line-${line}`;
export const fieldOfRate = (rate: number) => `rate-${rate}`;

/** The input of the API made from the form, and the form's field for each path of the input that has one. */
export interface DrawnUpCredit {
  readonly input: CreditInput;
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Converts the form. Empty fields are left out. An unreadable figure is sent so that the service refuses it and names
 * the field.
 */
export function creditOf({ way, quantities, nets, reason, note }: TypedCredit): DrawnUpCredit {
  const fields = new Map<string, string>([['note', 'note']]);
  // The reason determines no amount, so a preview before it is chosen is the same.
  const stated = { reason: reason || ('other' as const), ...(note.trim() && { note: note.trim() }) };
  if (way === 'rest') return { input: stated, fields };
  if (way === 'lines') {
    const lines = filled(quantities).map(([line, text]) => ({
      line,
      quantity: decimalOf(text, QUANTITY_PLACES) ?? UNREADABLE,
    }));
    for (const [i, { line }] of lines.entries()) fields.set(`lines.${i}.quantity`, fieldOfLine(line));
    return { input: { ...stated, lines }, fields };
  }
  const amounts = filled(nets).map(([taxRate, text]) => ({ taxRate, net: centimesOf(text) ?? UNREADABLE }));
  for (const [i, { taxRate }] of amounts.entries()) fields.set(`amounts.${i}.net`, fieldOfRate(taxRate));
  return { input: { ...stated, amounts }, fields };
}

function filled(typed: ReadonlyMap<number, string>): [number, string][] {
  return [...typed].filter(([, text]) => text.trim() !== '').sort(([a], [b]) => a - b);
}
