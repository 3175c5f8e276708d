import type { Centimes } from './money.ts';

// Limits that are checked in one place and stated in others.

/** The least amount of an invoice (docs/api/contract.md, "Limits"). */
export const MIN_AMOUNT: Centimes = 100;

/** Rows of a page: those of a request that asks for no number, and the most that one may ask for. */
export const PAGE_SIZE = { default: 20, most: 100 } as const;

/** Problems that one answer lists. */
export const MAX_PROBLEMS = 100;

/** Webhook endpoints of a tenant in each environment. */
export const MAX_ENDPOINTS = 16;

/** Characters of an endpoint's texts. */
export const ENDPOINT_LIMITS = { url: 2048, description: 500 } as const;

/** Valid API keys of a tenant in each environment, and the revoked ones that stay in its list. */
export const [MAX_KEYS, MAX_REVOKED_KEYS] = [50, 50] as const;

/** Different logos that a tenant may ever have stored: they are kept, because documents refer to them. */
export const MAX_LOGOS = 50;

/** Characters of the texts of a seller's profile, and days of its longest payment term. */
export const PROFILE_LIMITS = {
  legalName: 200,
  taxId: 30,
  tradeRegister: 100,
  professionalTax: 30,
  cnss: 30,
  street: 500,
  city: 100,
  postalCode: 20,
  legalForm: 50,
  paymentMode: 100,
  paymentTermDays: 366,
  exemptionReason: 500,
} as const;
