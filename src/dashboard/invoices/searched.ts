import { kindOfId } from '../../domain/invoice/kinds.ts';
import type { Filter } from './invoice-filter.ts';

/** What a text in the search field means: the id of an invoice or credit note, a total, an ICE, or a number or a name. */
export type Searched =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'match'; readonly match: Pick<Filter, 'amount'> | Pick<Filter, 'ice'> }
  | { readonly kind: 'text'; readonly text: string };

/** Digits in groups, with two decimals: `1 234,50`, `1,234.50`, `1234.50`. */
const AMOUNT = /^(\d{1,3}(?:[\s\u00a0\u202f.,]?\d{3})*|\d+)[.,](\d{2})$/;

/** Interprets the typed text. @returns null for an empty text */
export function searchedOf(typed: string): Searched | null {
  // Removes the apostrophe that exports put before digits (`src/dashboard/invoices/csv.ts`), because the text may be
  // copied from one.
  const text = typed.trim().replace(/^'(?=\d)/, '');
  if (text === '') return null;
  if (kindOfId(text) !== null) return { kind: 'id', id: text };
  if (/^\d{15}$/.test(text)) return { kind: 'match', match: { ice: text } };
  const [, whole, centimes] = AMOUNT.exec(text) ?? [];
  if (whole === undefined) return { kind: 'text', text };
  return { kind: 'match', match: { amount: String(Number(whole.replaceAll(/\D/g, '') + centimes)) } };
}
