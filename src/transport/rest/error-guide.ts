import { ERROR_STATUS, type ErrorCode } from '../../domain/errors.ts';

/** What a client's developer needs to know of an error code, in Markdown of one line. */
export interface ErrorAdvice {
  readonly meaning: string;
  readonly remedy: string;
  /** Statuses that it comes with besides that of {@link ERROR_STATUS}. */
  readonly alsoWith?: readonly number[];
}

/** Of each code of the one table, which the compiler holds this against. */
export const ERROR_GUIDE: Readonly<Record<ErrorCode, ErrorAdvice>> = {
  invalid_request: {
    meaning: 'A field, parameter or header is missing, unknown or malformed: `param` names it.',
    remedy: 'Correct the request. Sent again as it is, it fails again.',
    alsoWith: [405, 408, 413, 415, 416, 417, 431],
  },
  invalid_api_key: {
    meaning: 'No credential was sent, its header is malformed, or nobody has this key.',
    remedy: 'Send `Authorization: Bearer <key>`, with a key of this environment.',
  },
  api_key_revoked: {
    meaning: 'The key was revoked.',
    remedy: 'Use the key that replaced it.',
  },
  insufficient_scope: {
    meaning:
      'The credential is valid, but not for this: a publishable key or a client_secret reads its own invoice only.',
    remedy: 'Call from your back end with a secret key (`sk_…`).',
  },
  resource_not_found: {
    meaning:
      'There is no such object for this key. Those of other tenants and of the other environment are answered alike.',
    remedy: 'Check the id, the environment of the key and the address.',
  },
  idempotency_conflict: {
    meaning: 'The `Idempotency-Key` was used before, with another body.',
    remedy: 'Take a new key for a new invoice; to repeat a request, send the same body.',
  },
  amount_too_small: {
    meaning: '`amount` is below 100 centimes, the minimum.',
    remedy: 'Amounts are in centimes: 120.00 MAD is 12000.',
  },
  amount_mismatch: {
    meaning: '`amount` is not what the lines with their VAT add up to; the message has the sum.',
    remedy: 'Compute VAT once for each rate, on the sum of its lines, and round half up.',
  },
  invalid_ice: {
    meaning: '`customer.ice` is not exactly 15 digits.',
    remedy: 'Ask the customer for its ICE. Keep it as a string: it may begin with zeros.',
  },
  duplicate_number: {
    meaning: 'An invoice has this number already (GraphQL, where the client numbers invoices itself).',
    remedy: 'Take the next number of your series, or leave it out to get one of ours.',
  },
  invalid_date: {
    meaning: 'A date of the terms is too far from the day of the invoice, or the due date is before it (GraphQL).',
    remedy: 'Check the date; the message says between which days it may be.',
  },
  invalid_bank_account: {
    meaning: 'The check key of the RIB (its last two digits) does not fit (GraphQL).',
    remedy: 'Check the 24 digits with whoever owns the account.',
  },
  endpoint_limit_reached: {
    meaning: 'There are 16 webhook endpoints in this environment, the most there can be.',
    remedy: 'Delete one that is not used.',
  },
  key_limit_reached: {
    meaning: 'There are 50 valid keys in this environment, the most there can be (GraphQL).',
    remedy: 'Revoke keys that are not used.',
  },
  last_secret_key: {
    meaning: 'This is the last valid secret key of its environment (GraphQL).',
    remedy: 'Create another key first, or say `evenIfLast`.',
  },
  logo_limit_reached: {
    meaning: 'The tenant has had 50 different logos, the most there can be (GraphQL).',
    remedy: 'Use one of them.',
  },
  rate_limit_exceeded: {
    meaning: 'More requests in a minute than the credential or, without one, the address may make.',
    remedy: 'Wait for the seconds of `Retry-After`. `X-RateLimit-Remaining` tells before.',
  },
  internal_error: {
    meaning: 'The fault is ours, or the service can not be had at the moment.',
    remedy:
      'Try again after `Retry-After`, with the same `Idempotency-Key`; should it last, quote the `Request-Id` to support.',
    alsoWith: [503],
  },
};

/** The codes that a rejected invoice's `rejection_reason` begins with when the authority had no say (specification, "Errors"). */
export const REJECTION_GUIDE: Readonly<Record<'signature_error' | 'dgi_transmission_failed', ErrorAdvice>> = {
  signature_error: {
    meaning: 'The invoice could not be signed.',
    remedy: 'Create it anew. Should it happen again, ask the operator of the service.',
  },
  dgi_transmission_failed: {
    meaning: 'Five attempts to transmit failed, and the authority has not got the invoice.',
    remedy: 'Create it anew, with a new `Idempotency-Key`.',
  },
};

/** All codes with the statuses that they come with, in the order of the table. */
export const ERROR_CODES = (Object.keys(ERROR_STATUS) as ErrorCode[]).map((code) => ({
  code,
  statuses: [ERROR_STATUS[code], ...(ERROR_GUIDE[code].alsoWith ?? [])] as readonly number[],
  ...ERROR_GUIDE[code],
}));

/** The same as a list in Markdown. */
export const ERROR_GUIDE_MARKDOWN = ERROR_CODES.map(
  ({ code, statuses, meaning, remedy }) => `- \`${code}\` (${statuses.join(', ')}): ${meaning} ${remedy}`,
).join('\n');
