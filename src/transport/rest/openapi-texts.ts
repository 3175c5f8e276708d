import { IDEMPOTENCY_KEY_SCHEMA } from '../../domain/invoice/create-invoice-input.ts';
import { INVOICE_WARNINGS } from '../../domain/invoice/invoice-warnings.ts';
import { MAX_IDEMPOTENCY_KEY, SIGNATURE_TOLERANCE_MINUTES, USUAL_RATES } from '../../domain/limits.ts';

// Texts of the OpenAPI document that belong to no route: introduction, headers and security schemes.

export const INFO = {
  title: 'Fatoura',
  version: '0.1',
  summary: 'Electronic invoicing for Morocco',
  description: [
    'Accepts invoices, converts them to UBL 2.1, signs them (XAdES) and transmits them to the tax authority (DGI), which accepts or rejects them.',
    'Creating an invoice answers at once. Follow its status by reading it, by its event stream or by webhooks.',
    '',
    'Amounts are integers in centimes: 12000 means 120.00 MAD. Timestamps are ISO 8601 in UTC. An error has `code`, `message`, `param` and `status`.',
    'Unknown fields and parameters are refused. A method that a path does not support gets 405 with `Allow`; an unknown path gets 404.',
    '',
    'Secret keys (`sk_`) belong in a back end; a front end reads with the `client_secret` of one invoice. With test keys nothing is sent to the authority:',
    'a mock decides by the magic customer ICEs that [the documentation](/docs/test-environment) lists. With live keys (`sk_live_`) invoices are cleared',
    `by the authority. Limits: ${USUAL_RATES.secret} requests per minute for a secret key, ${USUAL_RATES.publishable} for a publishable key or a client_secret.`,
    '',
    'A version stays supported for at least 12 months after its successor is published. Operations that will end have the headers `Deprecation` and `Sunset`.',
  ].join('\n'),
};

/** Groups of operations. Generated clients name their classes after them. */
export const TAGS = {
  Invoices: 'Create, read, list and follow invoices.',
  'Webhook endpoints': 'The URLs that receive events.',
  Events: 'What your webhook endpoints receive.',
} as const;

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });
const count = (description: string, example: number) => ({
  description,
  required: true,
  schema: { type: 'integer', minimum: 0 },
  example,
});

/** Headers of answers. */
export const HEADERS = {
  'Request-Id': {
    description: 'Identifies the request in reports to support.',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9a-f-]{36}$' },
    example: 'req_550e8400-e29b-41d4-a716-446655440000',
  },
  'X-RateLimit-Limit': count('Requests per minute.', 100),
  'X-RateLimit-Remaining': count('Requests left in the current minute.', 99),
  'X-RateLimit-Reset': count('End of the current minute, UNIX time in seconds.', 1769860860),
  'RateLimit-Policy': { ...text('The limit in the format of the IETF draft.', '"minute";q=100;w=60'), required: true },
  RateLimit: {
    ...text('The remaining requests, and the seconds until the reset.', '"minute";r=99;t=60'),
    required: true,
  },
  ETag: {
    description: 'Changes whenever the body changes.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[A-Za-z0-9_-]+"$' },
    example: 'W/"zyjTBnXyhQWzGIQZCyY1oiUXFHA"',
  },
  'Idempotent-Replayed': {
    description: 'Present when an earlier request with this Idempotency-Key created the invoice.',
    schema: { type: 'string', const: 'true' },
  },
  'Fatoura-Warnings': {
    description: [
      'Present when the invoice may have problems with the law or the tax authority: codes, each once, separated by commas.',
      'They do not make a request fail. More codes may be added:',
      '',
      ...Object.entries(INVOICE_WARNINGS).map(
        ([code, { description, remedy }]) => `- \`${code}\`: ${description} ${remedy}`,
      ),
    ].join('\n'),
    schema: { type: 'string', pattern: '^[a-z_]+(, [a-z_]+)*$' },
    example: 'customer_address_missing, due_date_missing',
  },
  'Retry-After': { description: 'Seconds.', required: true, schema: { type: 'integer', minimum: 1 }, example: 30 },
  'WWW-Authenticate': { ...text('RFC 6750.', 'Bearer realm="fatoura"'), required: true },
} as const;

/** The headers of every answer. */
export const COMMON_HEADERS = [
  'Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
] as const satisfies readonly (keyof typeof HEADERS)[];

/** Additional headers of errors, by status. */
export const EXTRA_HEADERS: Readonly<Record<number, readonly (keyof typeof HEADERS)[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const requestHeader = (name: string, description: string, schema: object = {}, example?: string) => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string', ...schema },
  ...(example !== undefined && { example }),
});

/** Headers of requests. They have no examples, because the reference page would send them. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': requestHeader(
    'Idempotency-Key',
    'The same key and body never create a second invoice. Bare, or quoted as in the IETF draft: `a` and `"a"` are different keys. Printable ' +
      `characters, spaces between them included, encoded in UTF-8; at most ${MAX_IDEMPOTENCY_KEY} without quotes.`,
    IDEMPOTENCY_KEY_SCHEMA,
  ),
  'If-None-Match': requestHeader('If-None-Match', 'An ETag: 304 while nothing has changed.'),
  'Last-Event-ID': requestHeader(
    'Last-Event-ID',
    'Resumes after this message of the invoice. An unknown id is ignored: the stream then starts with the current status.',
  ),
};

/**
 * Describes the headers of a delivery: signatures and context.
 * @param environment the schema of an environment's name
 */
export const webhookHeaders = (environment: object) => [
  {
    ...requestHeader(
      'Service-Signature',
      `\`t\`: UNIX time of sending; refuse a time that differs by more than ${SIGNATURE_TOLERANCE_MINUTES} minutes. ` +
        '`v1`: HMAC-SHA256, in lower-case hexadecimal, of `t`, a dot and the raw body, keyed with the whole secret (`whsec_…`). During the rotation of a secret there is one `v1` for each.',
      { pattern: '^t=[0-9]+(,v1=[0-9a-f]{64})+$' },
      `t=1769860800,v1=${'5f'.repeat(32)}`,
    ),
    required: true,
  },
  requestHeader('webhook-id', "The event's id (Standard Webhooks).", {}, 'evt_550e8400-e29b-41d4-a716-446655440000'),
  requestHeader('webhook-timestamp', 'UNIX seconds (Standard Webhooks).', {}, '1769860800'),
  requestHeader(
    'webhook-signature',
    'Standard Webhooks: `v1,` and base64.',
    {},
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  {
    ...requestHeader('Fatoura-Environment', 'The environment of the invoice.', {}, 'test'),
    schema: environment,
    required: true,
  },
  requestHeader(
    'Fatoura-Trigger',
    '`manual` for a delivery that was sent by hand: a test event or a resent event. Otherwise absent.',
    { const: 'manual' },
    'manual',
  ),
];

/**
 * One scheme for all credentials. If a header had several schemes, generated clients would send the first one that is
 * set.
 */
export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: [
      'One of three credentials. Each operation states which ones it accepts.',
      '',
      '- Secret key (`sk_test_…`, `sk_live_…`), for back ends only: reads and writes everything of its tenant and environment.',
      '- `client_secret` of an invoice (`inv_…_secret_…`), for front ends: reads and follows that invoice.',
      '- Publishable key (`pk_test_…`, `pk_live_…`), for front ends: the same, with the `client_secret` as a query parameter.',
    ].join('\n'),
  },
};
