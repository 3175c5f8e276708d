import { DEFAULT_CUSTOMER_KIND } from './customer-kind.ts';
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
 * Returns a text that distinguishes customers with the same name. Companies with the same name count as one customer.
 * Other customers have no identifier, so they are the same only if all their data on invoices is the same: two persons
 * are never taken for one because of their name.
 */
export function customerIdentity(customer: Customer): string {
  const { kind } = customer;
  return kind === 'company' ? kind : JSON.stringify([kind, ...Object.values(comparedOf(customer))]);
}

function comparedOf({ country, taxNumber, email, address }: Customer) {
  return { country, taxNumber, email: email?.toLowerCase() ?? null, address: address && customerKey(address) };
}

/** A customer as an input states it. */
export type AskedCustomer = { readonly [Name in keyof Customer]?: Customer[Name] | null | undefined };

/**
 * Returns the members in which the customer of an invoice differs from that of an input; empty if they are the same
 * customer. Companies are compared by their ICE, other customers as in {@link customerIdentity}.
 */
export function differencesOf(customer: Customer, asked: AskedCustomer): (keyof Customer)[] {
  const { kind, ice = null, name, country = null, taxNumber = null, email = null, address } = asked;
  if (customer.kind !== (kind ?? DEFAULT_CUSTOMER_KIND)) return ['kind'];
  if (customer.kind === 'company') return ice !== null && customer.ice === ice ? [] : ['ice'];
  const stated = comparedOf(customer);
  const others = comparedOf({ ...customer, country, taxNumber, email, address: address || null });
  const names = (['country', 'taxNumber', 'email', 'address'] as const).filter((each) => stated[each] !== others[each]);
  return customerKey(customer.name) === customerKey(name ?? '') ? names : ['name', ...names];
}
