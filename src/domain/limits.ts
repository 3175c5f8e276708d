import type { Centimes } from './money.ts';

// Limits that one place checks and others state.

/** Minimum amount of an invoice (docs/api/contract.md, "Limits"). */
export const MIN_AMOUNT: Centimes = 100;

/** Maximum size of a request body, in bytes (docs/decisions/0013). */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Maximum length of an idempotency key without enclosing quotation marks, in characters. */
export const MAX_IDEMPOTENCY_KEY = 255;

/** Requests a minute, unless the settings `RATE_LIMIT_SECRET` and `RATE_LIMIT_PUBLISHABLE` change them. */
export const USUAL_RATES = { secret: 100, publishable: 300 } as const;

/** Rows of a page: the default and the maximum. */
export const PAGE_SIZE = { default: 20, most: 100 } as const;

/** Maximum number of problems in an answer. */
export const MAX_PROBLEMS = 100;

/** Maximum number of drafts of a tenant in each environment. */
export const MAX_DRAFTS = 1000;

/** Maximum number of imports of files of a tenant in each environment. They expire. */
export const MAX_IMPORTS = 1000;
/** Maximum size of all files of a tenant's imports in each environment, MiB. */
export const MAX_IMPORT_MIB = 500;

/** Maximum number of webhook endpoints of a tenant in each environment. */
export const MAX_ENDPOINTS = 16;

/** Maximum lengths of an endpoint's texts, in characters. */
export const ENDPOINT_LIMITS = { url: 2048, description: 500 } as const;

/** Time limits of an attempt to deliver, in milliseconds: for connecting, and for all of it (docs/decisions/0026). */
export const DELIVERY_TIMES = { connect: 5000, whole: 15_000 } as const;

/** Maximum size of the stored response body, and of the stored response headers, of an attempt to deliver, in bytes. */
export const KEPT_RESPONSE_BYTES = 16 * 1024;

/**
 * Maximum size of the headers of an answer from outside, in bytes. Gateways add cookies and policies of tens of
 * kilobytes. Larger ones are no answer.
 */
export const MAX_ANSWER_HEADER_BYTES = 64 * 1024;

/** Interval of the comments on an event stream that has nothing to send, milliseconds (docs/decisions/0023). */
export const HEARTBEAT_MS = 15_000;

/**
 * How long each client of ours waits for a byte of an event stream before it takes the connection for broken,
 * milliseconds: three heartbeats, and 5 s for the network. A NAT or a sleeping machine ends a connection without
 * telling either side.
 */
export const SILENCE_MS = 3 * HEARTBEAT_MS + 5000;

/** How long former webhook secrets sign beside a new one, in seconds. */
export const SECRET_OVERLAP = { default: 86_400, most: 7 * 86_400 } as const;

/** Maximum difference that a receiver should accept between its clock and the time of a signature, in minutes. */
export const SIGNATURE_TOLERANCE_MINUTES = 5;

/** How long a request waits for a document that is still to come, in milliseconds (docs/decisions/0017). */
export const DOCUMENT_WAIT_MS = 10_000;

/**
 * Maximum lengths of a tenant's name, and of the reasons for a pause of the authority, for abandoning an invoice and
 * for acknowledging a difference, in characters.
 */
export const OPERATOR_TEXTS = { tenantName: 200, pauseReason: 200, reason: 500 } as const;

/** Maximum number of tenants, or of entries of the audit log, in a page of a list for operators. */
export const OPERATOR_PAGE = 50;

/** Waiting work is counted up to this number for operators. */
export const MOST_WAITING = 1000;

/** Maximum number of people of a tenant. */
export const MAX_MEMBERS = 200;

/** Maximum number of invitations in the list of a tenant; those that end first come first. */
export const MAX_INVITATIONS = 100;

/** Maximum number of characters of a key's name. */
export const LONGEST_KEY_NAME = 60;

/** Maximum number of a tenant's valid API keys in each environment, and of the revoked ones that its list keeps. */
export const [MAX_KEYS, MAX_REVOKED_KEYS] = [50, 50] as const;

/** Maximum number of different logos that a tenant may ever store: all are kept, because documents refer to them. */
export const MAX_LOGOS = 50;

/** Maximum length of an e-mail address in octets of UTF-8 (RFC 5321, 4.5.3.1; RFC 6531, 3.3), and so in characters. */
export const MAX_ADDRESS = 254;

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
