import type { Centimes } from './money.ts';

// Limits that one place checks and others state.

/** Minimum amount of an invoice (docs/api/contract.md, "Limits"). */
export const MIN_AMOUNT: Centimes = 100;

/** Rows of a page: the default and the maximum. */
export const PAGE_SIZE = { default: 20, most: 100 } as const;

/** Maximum number of problems in an answer. */
export const MAX_PROBLEMS = 100;

/** Maximum number of webhook endpoints of a tenant in each environment. */
export const MAX_ENDPOINTS = 16;

/** Maximum lengths of an endpoint's texts, in characters. */
export const ENDPOINT_LIMITS = { url: 2048, description: 500 } as const;

/** Maximum number of a tenant's valid API keys in each environment, and of the revoked ones that its list keeps. */
export const [MAX_KEYS, MAX_REVOKED_KEYS] = [50, 50] as const;

/** Maximum number of different logos that a tenant may ever store: all are kept, because documents refer to them. */
export const MAX_LOGOS = 50;

/** Maximum lengths of the texts of a seller's profile in characters, and its longest payment term in days. */
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
