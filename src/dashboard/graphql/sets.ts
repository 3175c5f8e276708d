// Written by `npm run build`.

export const STATUSES = [
  'pending',
  'signing',
  'transmitted',
  'accepted',
  'rejected',
] as const;

export const FINAL_STATUSES = [
  'accepted',
  'rejected',
] as const;

export const LANES = [
  'stages',
  'transmissions',
  'answers',
  'documents',
  'mail',
  'idle',
] as const;

export const ATTENTION_REASONS = [
  'internal_error',
  'digest_mismatch',
  'outcome_unknown',
  'undecided',
  'receipt_delayed',
  'receipt_invalid',
  'pdf_delayed',
] as const;

export const BREAKER_PHASES = [
  'closed',
  'open',
  'half_open',
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
  'clock',
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

/** Characters. */
export const PERSON_LENGTHS = {
  email: 254,
  name: 100,
  password: 128,
  code: 100,
  passkeyName: 60,
  shortestPassword: 12,
} as const;

/** Characters. */
export const OPERATOR_LENGTHS = {
  tenantName: 200,
  pauseReason: 200,
  reason: 500,
} as const;

/** The types of events as receivers get them, by their names in GraphQL. */
export const EVENT_NAMES = {
  invoice_signing: 'invoice.signing',
  invoice_transmitted: 'invoice.transmitted',
  invoice_accepted: 'invoice.accepted',
  invoice_rejected: 'invoice.rejected',
} as const;

/** Counts of a backlog end at this number. */
export const MOST_WAITING = 1000;

/** How long an event stream may be silent: three heartbeats, and some time for the network. Milliseconds. */
export const SILENCE_MS = 50000;
