import {
  MAX_BODY_BYTES,
  MAX_DRAFTS,
  MAX_ENDPOINTS,
  MAX_IMPORT_MIB,
  MAX_IMPORTS,
  MAX_KEYS,
  MAX_LOGOS,
  MAX_MEMBERS,
  MIN_AMOUNT,
  USUAL_RATES,
} from './limits.ts';
import { CURRENCY, decimalOf } from './money.ts';

/** A true answer, as the service gives it. */
type Example = readonly [message: string, param: string | null];

/** The properties of an error code. Texts address a client's developer, in one line of Markdown. */
interface ErrorRow {
  /** The usual HTTP status. */
  readonly status: number;
  /** Further HTTP statuses that it occurs with, each with an example. */
  readonly alsoWith?: Readonly<Record<number, Example>>;
  /** The type of the error in GraphQL's mutation results; absent if it is an error of the whole request. */
  readonly type?:
    | 'InvalidInputError'
    | 'NotFoundError'
    | 'IdempotencyConflictError'
    | 'ConflictError'
    | 'LimitReachedError';
  /** The meaning of the code. */
  readonly description: string;
  /** The action that the client should take. */
  readonly remedy: string;
  /** An example with the usual status. */
  readonly example: Example;
}

/** The error codes: those of the contract ("Errors") and further ones of this service. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    alsoWith: {
      405: ['PUT is not allowed here. Use POST or HEAD or GET.', null],
      406: [
        'The Accept header must allow application/graphql-response+json, application/json or text/event-stream.',
        null,
      ],
      408: ['The request did not arrive in time.', null],
      413: [`The body is larger than the maximum of ${MAX_BODY_BYTES / 1024 / 1024} MiB.`, null],
      414: ['The target of the request is longer than 16 KiB.', null],
      415: ['Send the body as UTF-8 JSON with Content-Type: application/json; "text/plain" was sent.', null],
      416: ['The document has 7654 bytes; the range is beyond its end.', null],
      417: ['The only supported expectation is 100-continue.', 'Expect'],
      431: ['The headers are larger than 16 KiB.', null],
    },
    type: 'InvalidInputError',
    description: 'A field, parameter or header is missing, unknown or malformed: `param` names it.',
    remedy: 'Correct the request. Sent again unchanged, it fails again.',
    example: ['customer.name is required: the company name, a string.', 'customer.name'],
  },
  invalid_api_key: {
    status: 401,
    description:
      'No credential was sent, its header is malformed, or the key is unknown. Also a key in the wrong place: of the other environment’s address, or a live key ' +
      'that arrived unencrypted or through a proxy that the service does not trust (`TRUST_PROXY`).',
    remedy:
      'Send `Authorization: Bearer <key>`, with a key of this environment, over HTTPS. Where the message names `TRUST_PROXY`, the operator has to set it; the key is good.',
    example: ['No credential was sent. Send the header Authorization: Bearer <key>.', null],
  },
  api_key_revoked: {
    status: 401,
    description: 'The key was revoked.',
    remedy: 'Use the key that replaced it.',
    example: ['This API key was revoked. Use the key that replaced it.', null],
  },
  invalid_credentials: {
    status: 401,
    description: 'The e-mail address or the password is wrong (accounts of people).',
    remedy: 'Check both, or set a new password.',
    example: ['The e-mail address or the password is wrong.', null],
  },
  not_signed_in: {
    status: 401,
    description: 'Nobody is signed in, or the session has ended (accounts of people).',
    remedy: 'Sign in at `/sign-in`.',
    example: ['Nobody is signed in.', null],
  },
  confirmation_required: {
    status: 403,
    description:
      'A person creates a live document in a session without a second factor, and has not entered the password within the last 15 minutes. Secret keys never get it.',
    remedy:
      'Send the password to `POST /auth/confirm` from a page of this service, then the same request again, with its idempotency key.',
    example: [
      'Live documents need a session with a second factor, or the password entered within the last 15 min. Send the password to POST /auth/confirm, then this request again.',
      null,
    ],
  },
  tenant_suspended: {
    status: 403,
    description: 'An operator has suspended the tenant: it can read everything and change nothing.',
    remedy: 'Ask the operator of the service. Send the request again once the suspension has ended.',
    example: ['The tenant is suspended: it can only read. Ask the operator of the service.', null],
  },
  insufficient_scope: {
    status: 403,
    description:
      'The credential is valid but does not allow this: a publishable key or a client_secret gives access to its own invoice only. Also the creation of a live ' +
      'invoice while the seller’s profile is incomplete: the message names the missing fields.',
    remedy:
      'Call from your back end with a secret key (`sk_…`), or complete the profile (GraphQL’s `updateSellerProfile`, or the operator) and send the request again.',
    example: [
      'A client_secret gives access to its own invoice only. Use a secret key (sk_…) from your back end.',
      null,
    ],
  },
  resource_not_found: {
    status: 404,
    type: 'NotFoundError',
    description:
      'There is no such object for this key. Objects of other tenants and environments are not found either.',
    remedy: 'Check the id, the environment of the key and the address.',
    example: ["There is no invoice 'inv_550e8400-e29b-41d4-a716-446655440000' in this tenant and environment.", 'id'],
  },
  idempotency_conflict: {
    status: 409,
    type: 'IdempotencyConflictError',
    description: 'The idempotency key was used before with a different payload.',
    remedy: 'Use a new key for a new invoice; to repeat a request, send the same payload.',
    example: [
      'This idempotency key was used with a different payload. Use a new key for a new invoice.',
      'Idempotency-Key',
    ],
  },
  draft_changed: {
    status: 409,
    type: 'ConflictError',
    description: 'The draft was changed after it was read (GraphQL).',
    remedy: 'Read the draft again, and decide on its present content.',
    example: [
      'Draft drf_550e8400-e29b-41d4-a716-446655440000 has version 2, not 1: it was changed meanwhile. Read it again.',
      'version',
    ],
  },
  draft_issued: {
    status: 409,
    type: 'ConflictError',
    description: 'The draft is an invoice by now, or is being issued (GraphQL).',
    remedy:
      'Read the invoice that the message names. A draft that is being issued is one within a minute, or is free again.',
    example: [
      'Draft drf_550e8400-e29b-41d4-a716-446655440000 was issued as invoice inv_550e8400-e29b-41d4-a716-446655440000.',
      'id',
    ],
  },
  import_not_checked: {
    status: 409,
    type: 'ConflictError',
    description:
      'The import is not at the point that the request assumes: its file is still read, cannot be read, or its invoices are being issued (GraphQL).',
    remedy: 'Read the import again. `status` says what comes next.',
    example: ['Import imp_550e8400-e29b-41d4-a716-446655440000 is reading, not checked. Read it again.', 'id'],
  },
  amount_too_small: {
    status: 422,
    type: 'InvalidInputError',
    description: `\`amount\` is below ${MIN_AMOUNT} centimes, the minimum.`,
    remedy: 'Amounts are in centimes: 120.00 MAD is 12000.',
    example: [
      `amount is ${MIN_AMOUNT - 1} centimes; the minimum is ${MIN_AMOUNT} (${decimalOf(MIN_AMOUNT)} ${CURRENCY}).`,
      'amount',
    ],
  },
  amount_mismatch: {
    status: 422,
    type: 'InvalidInputError',
    description: '`amount` is not the total of the lines with their VAT; the message states that total.',
    remedy: 'Compute VAT once for each rate, on the sum of its lines, and round half up.',
    example: [
      'amount is 12001 centimes; the lines with their VAT add up to 12000 (120.00 MAD: 100.00 net and 20.00 VAT).',
      'amount',
    ],
  },
  invalid_ice: {
    status: 422,
    type: 'InvalidInputError',
    description: '`customer.ice` is not exactly 15 digits.',
    remedy: 'Ask the customer for its ICE. Keep it as a string: it may begin with zeros.',
    example: ['customer.ice must be exactly 15 digits, 0 to 9; it has 14 digits.', 'customer.ice'],
  },
  duplicate_number: {
    status: 422,
    type: 'InvalidInputError',
    description: 'Another invoice has this number of the client’s own series.',
    remedy: 'Send the next number of your series, or none to get one of the service’s series.',
    example: [
      'number FA/2026/0123 is already used by your invoice inv_550e8400-e29b-41d4-a716-446655440000; a number is never reused, even after a rejection. Use another one.',
      'number',
    ],
  },
  invalid_date: {
    status: 422,
    type: 'InvalidInputError',
    description: 'A date of the terms is too far from the date of the invoice, or the due date is before it.',
    remedy: 'Check the date; the message states the first and the last date allowed.',
    example: [
      'dueDate is 2026-01-30; for an invoice of 2026-01-31 it must be from 2026-01-31 to 2031-01-31.',
      'terms.dueDate',
    ],
  },
  invalid_bank_account: {
    status: 422,
    type: 'InvalidInputError',
    description: 'The check key of the RIB (its last two digits) does not match.',
    remedy: 'Check the 24 digits with the owner of the account.',
    example: [
      'bankAccount has a check key (its last two digits) that does not match: at least one digit is wrong.',
      'terms.bankAccount',
    ],
  },
  credit_exceeds_invoice: {
    status: 422,
    type: 'InvalidInputError',
    description: 'The credit note would take more from the invoice than is left at a rate of VAT (GraphQL).',
    remedy: 'Credit at most what is left; the message states it.',
    example: [
      'At 20 %, 80.00 MAD excluding tax is left of invoice 2026-000123; the request takes more.',
      'amounts.0.net',
    ],
  },
  deposit_not_deductible: {
    status: 422,
    type: 'InvalidInputError',
    description:
      'The final invoice cannot deduct the deposit: it is not a deposit invoice of the same customer, nothing is left of it, or the lines have less than it (GraphQL).',
    remedy:
      'Follow the message. What a final invoice has deducted is free again once that invoice is rejected, replaced or credited completely.',
    example: ['Invoice inv_550e8400-e29b-41d4-a716-446655440000 is not a deposit invoice.', 'deposits.0'],
  },
  invoice_not_accepted: {
    status: 422,
    type: 'InvalidInputError',
    description: 'The invoice is not accepted, so it cannot be credited or deducted (GraphQL).',
    remedy: 'Wait until it is accepted. A rejected invoice has no effect: create a corrected one.',
    example: [
      'Invoice inv_550e8400-e29b-41d4-a716-446655440000 is rejected. Only an accepted invoice can be credited.',
      'invoiceId',
    ],
  },
  draft_limit_reached: {
    status: 422,
    type: 'LimitReachedError',
    description: `There are already ${MAX_DRAFTS} drafts in this environment, which is the maximum (GraphQL).`,
    remedy: 'Issue or delete some.',
    example: [
      `There are already ${MAX_DRAFTS} drafts in the test environment, which is the maximum. Issue or delete some first.`,
      null,
    ],
  },
  import_limit_reached: {
    status: 422,
    type: 'LimitReachedError',
    description: `There are already ${MAX_IMPORTS} imports of files in this environment, or their files have ${MAX_IMPORT_MIB} MiB together, which is the maximum (\`POST /imports\`).`,
    remedy: 'Discard some. They also go by themselves 30 days after their upload.',
    example: [
      `There are already ${MAX_IMPORTS} imports in the test environment, which is the maximum. Discard some first.`,
      null,
    ],
  },
  invoice_not_replaceable: {
    status: 422,
    type: 'InvalidInputError',
    description:
      'The invoice cannot be replaced: it is neither accepted nor rejected, another invoice replaces it, or the tax authority has not decided about a credit note of it (GraphQL).',
    remedy: 'Wait for the decision, or replace the invoice that the message names.',
    example: [
      'Invoice inv_550e8400-e29b-41d4-a716-446655440000 is transmitted. Only an accepted or a rejected invoice can be replaced.',
      'invoiceId',
    ],
  },
  endpoint_limit_reached: {
    status: 422,
    type: 'LimitReachedError',
    description: `There are already ${MAX_ENDPOINTS} webhook endpoints in this environment, which is the maximum.`,
    remedy: 'Delete one that is not used.',
    example: [
      `There are already ${MAX_ENDPOINTS} webhook endpoints, which is the maximum. Delete one that is not used.`,
      null,
    ],
  },
  key_limit_reached: {
    status: 422,
    type: 'LimitReachedError',
    description: `There are already ${MAX_KEYS} valid keys in this environment, which is the maximum (GraphQL).`,
    remedy: 'Revoke keys that are not used.',
    example: [
      `There are already ${MAX_KEYS} valid keys in the test environment, which is the maximum. Revoke one first.`,
      null,
    ],
  },
  last_secret_key: {
    status: 422,
    type: 'InvalidInputError',
    description: 'This is the last valid secret key of its environment (GraphQL).',
    remedy: 'Create another key first, or pass `evenIfLast`.',
    example: ['This is the last valid secret key of the test environment.', 'id'],
  },
  member_limit_reached: {
    status: 422,
    type: 'LimitReachedError',
    description: `There are already ${MAX_MEMBERS} people in this tenant, which is the maximum (GraphQL).`,
    remedy: 'Remove people who no longer need access.',
    example: [`There are already ${MAX_MEMBERS} people in this tenant, which is the maximum.`, null],
  },
  last_owner: {
    status: 422,
    type: 'InvalidInputError',
    description: 'The person is the last owner of the tenant (GraphQL).',
    remedy: 'Make somebody else an owner first.',
    example: ['Amina is the last owner of the tenant. Make somebody else an owner first.', 'id'],
  },
  logo_limit_reached: {
    status: 422,
    type: 'LimitReachedError',
    description: `The tenant has stored ${MAX_LOGOS} different logos, which is the maximum (GraphQL).`,
    remedy: 'Use one of the stored logos.',
    example: [`A tenant can store at most ${MAX_LOGOS} different logos.`, 'logo'],
  },
  rate_limit_exceeded: {
    status: 429,
    description: 'The credential or, without one, the address has made too many requests in this minute.',
    remedy: 'Wait for `Retry-After` seconds. `X-RateLimit-Remaining` tells how many requests are left.',
    example: [`More than ${USUAL_RATES.secret} requests in a minute. Try again in 30 s.`, null],
  },
  internal_error: {
    status: 500,
    alsoWith: { 503: ['The service is not available at the moment. Try again.', null] },
    description: 'The service has failed, or is not available at the moment.',
    remedy:
      'Try again after `Retry-After`, with the same `Idempotency-Key`; if it fails again, quote the `Request-Id` to support.',
    example: [
      'Something went wrong on our side. Quote the request id req_550e8400-e29b-41d4-a716-446655440000 to support.',
      null,
    ],
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** Returns the properties of an error code. */
export function rowOfError(code: ErrorCode): ErrorRow {
  return ERRORS[code];
}

/** Returns the statuses that a code occurs with, the usual one first. */
export function statusesOf(code: ErrorCode): number[] {
  const { status, alsoWith = {} } = rowOfError(code);
  return [status, ...Object.keys(alsoWith).map(Number)];
}

/** Returns an example of an error with one of its statuses. */
export function exampleOfError(code: ErrorCode, status: number = rowOfError(code).status): Example {
  const { example, alsoWith } = rowOfError(code);
  return alsoWith?.[status] ?? example;
}

/** The codes at the start of a `rejection_reason` that is not the authority's (docs/api/contract.md, "Errors"). */
export const REJECTION_CODES = {
  signature_error: {
    description: 'The invoice could not be signed.',
    remedy: 'Create it again. If that is rejected too, ask the operator of the service.',
  },
  dgi_transmission_failed: {
    description: 'Every attempt to transmit failed, and the tax authority does not hold the invoice.',
    remedy: 'Create it again, with a new `Idempotency-Key`.',
  },
} as const satisfies Readonly<Record<string, Pick<ErrorRow, 'description' | 'remedy'>>>;
