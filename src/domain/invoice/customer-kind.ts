/** The kinds of customers, with their descriptions. Invoices of REST have only companies. */
export const CUSTOMER_KINDS = {
  company: 'A company in Morocco, which has an ICE.',
  person: 'A private person in Morocco, who has none.',
  foreign: 'A company or a person abroad, with a country.',
} as const;

export type CustomerKind = keyof typeof CUSTOMER_KINDS;
export const CUSTOMER_KIND_NAMES = Object.keys(CUSTOMER_KINDS) as [CustomerKind, ...CustomerKind[]];

/** The kind of a customer for whom none is stated. */
export const DEFAULT_CUSTOMER_KIND = 'company' satisfies CustomerKind;

/** The members of a customer of the default kind beside ICE, name, address and e-mail address. */
export const COMPANY = { kind: DEFAULT_CUSTOMER_KIND, country: null, taxNumber: null } as const;
