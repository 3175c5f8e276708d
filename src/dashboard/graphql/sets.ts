// Written by `npm run build`.

export const STATUSES = [
  'pending',
  'signing',
  'transmitted',
  'accepted',
  'rejected',
] as const;

export const EVENT_TYPES = [
  'invoice_signing',
  'invoice_transmitted',
  'invoice_accepted',
  'invoice_rejected',
] as const;

export const DELIVERY_STATES = [
  'pending',
  'delivered',
  'failed',
  'cancelled',
] as const;

export const SETTLED_STATES = [
  'delivered',
  'failed',
  'cancelled',
] as const;

export const ENVIRONMENTS = [
  'test',
  'live',
] as const;

export const KEY_KINDS = [
  'secret',
  'publishable',
] as const;

export const LIVE_CONDITIONS = [
  'profile',
  'certificate',
  'authority',
  'address',
] as const;

export const ROLES = [
  'viewer',
  'developer',
  'owner',
] as const;

/** Characters. */
export const ENDPOINT_LENGTHS = {
  url: 2048,
  description: 500,
} as const;

/** Characters. */
export const PROFILE_LENGTHS = {
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
  exemptionReason: 500,
} as const;
