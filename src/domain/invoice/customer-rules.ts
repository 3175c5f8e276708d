import { type Problem, problem } from '../errors.ts';
import { CUSTOMER_KINDS, type CustomerKind, DEFAULT_CUSTOMER_KIND } from './customer-kind.ts';

/** The parts of a customer that its kind decides about. */
export interface RuledCustomer {
  readonly kind?: CustomerKind | null | undefined;
  readonly ice?: string | null | undefined;
  readonly country?: string | null | undefined;
  readonly taxNumber?: string | null | undefined;
}

const WITHOUT_ICE = 'For a private person send kind `person`, for a customer abroad kind `foreign` and its country.';

/**
 * Returns the problems (400) of members that do not fit the kind of a customer: a company has an ICE, nobody else has
 * one, and only a customer abroad has a country and a tax number. A company whose ICE was forgotten is refused, and
 * never counts as a person.
 */
export function kindProblems(customer: RuledCustomer): Problem[] {
  const kind = customer.kind ?? DEFAULT_CUSTOMER_KIND;
  const missing: (readonly [string, string])[] = [];
  if (kind === 'company' && customer.ice == null)
    missing.push(['ice', `is required for a company: a string of 15 digits. ${WITHOUT_ICE}`]);
  if (kind === 'foreign' && customer.country == null)
    missing.push(['country', 'is required for kind `foreign`: an ISO 3166-1 code.']);
  const unfit = (['ice', 'country', 'taxNumber'] as const)
    .filter((name) => customer[name] != null && !ALLOWED[kind].includes(name))
    .map((name) => [name, `does not fit kind \`${kind}\` (${CUSTOMER_KINDS[kind]}). Leave it out.`] as const);
  return [...missing, ...unfit].map(([name, what]) => {
    const param = `customer.${name}`;
    return problem('invalid_request', `${param} ${what}`, param);
  });
}

const ALLOWED: Readonly<Record<CustomerKind, readonly (keyof RuledCustomer)[]>> = {
  company: ['ice'],
  person: [],
  foreign: ['country', 'taxNumber'],
};

/** Returns what is wrong with the ICE of a company (422). */
export function iceProblems({ kind, ice }: RuledCustomer): Problem[] {
  if (ice == null || (kind ?? DEFAULT_CUSTOMER_KIND) !== 'company' || /^[0-9]{15}$/.test(ice)) return [];
  const message = `customer.ice must be exactly 15 digits, 0 to 9; it has ${lengthOf(ice)}.`;
  return [problem('invalid_ice', message, 'customer.ice')];
}

function lengthOf(ice: string): string {
  const [characters, digits] = [ice.length, ice.replace(/[^0-9]/g, '').length];
  if (characters === digits) return digits === 1 ? '1 digit' : `${digits} digits`;
  return `${characters} ${characters === 1 ? 'character' : 'characters'}, ${digits} of them ${digits === 1 ? 'a digit' : 'digits'}`;
}
