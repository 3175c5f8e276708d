import type { Filter } from './invoice-filter.ts';

/** The meaning of a text in the search field: the id of an invoice, a total, an ICE, or a number or a name. */
export type Searched =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'match'; readonly match: Pick<Filter, 'amount'> | Pick<Filter, 'ice'> }
  | { readonly kind: 'text'; readonly text: string };

/** Digits in groups, with two decimals: `1 234,50`, `1,234.50`, `1234.50`. */
const AMOUNT = /^(\d{1,3}(?:[\s\u00a0\u202f.,]?\d{3})*|\d+)[.,](\d{2})$/;

/** @returns null for nothing */
export function searchedOf(typed: string): Searched | null {
  // An apostrophe keeps digits a text in an export (`src/dashboard/invoices/csv.ts`), from which they may be copied.
  const text = typed.trim().replace(/^'(?=\d)/, '');
  if (text === '') return null;
  if (text.startsWith('inv_')) return { kind: 'id', id: text };
  if (/^\d{15}$/.test(text)) return { kind: 'match', match: { ice: text } };
  const [, whole, centimes] = AMOUNT.exec(text) ?? [];
  if (whole === undefined) return { kind: 'text', text };
  return { kind: 'match', match: { amount: String(Number(whole.replaceAll(/\D/g, '') + centimes)) } };
}
