import type { Customer } from './invoice.ts';

/** Maximum length of the searched part of a name, in characters. */
const LONGEST = 100;

/**
 * Normalizes a customer's name for searches: without case, accents, vowel signs and punctuation, and with single
 * spaces. Names with the same key are found together. The key has up to 100 characters.
 */
export function customerKey(name: string): string {
  const plain = name
    .slice(0, 4 * LONGEST)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase();
  return plain
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST);
}

/**
 * Returns what tells customers with one name apart. Companies with one name count as one customer. Others have no
 * identifier of their own, so they are the same only if all that invoices state of them is: two persons with one name
 * are never taken for one because of the name.
 */
export function customerIdentity({ kind, country, taxNumber, email, address }: Customer): string {
  if (kind === 'company') return kind;
  return JSON.stringify([kind, country, taxNumber, email?.toLowerCase() ?? null, address && customerKey(address)]);
}
