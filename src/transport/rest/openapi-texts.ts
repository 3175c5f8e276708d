import { INVOICE_WARNINGS } from '../../domain/invoice/invoice-warnings.ts';

// What the OpenAPI document says that no route does: its introduction, headers and security schemes.

export const INFO = {
  title: 'Fatoura',
  version: '0.1',
  summary: 'Electronic invoicing for Morocco',
  description: [
    'Accepts invoices, writes them as UBL 2.1, signs them (XAdES), transmits them to the tax authority (DGI), which accepts or rejects them.',
    'Creating an invoice answers at once; follow it by reading, by its stream or by webhooks.',
    '',
    'Amounts are integers in centimes: 12000 means 120.00 MAD. Timestamps are ISO 8601 in UTC. An error has `code`, `message`, `param` and `status`.',
    'Unknown fields and parameters are refused. A method that an address does not have is 405 with `Allow`; an unknown address is 404.',
    '',
    'Secret keys (`sk_`) belong in a back end; a front end reads with the `client_secret` of one invoice. Test keys never reach the authority:',
    'a mock decides, by the magic customer ICEs that [/docs](/docs) lists. Live keys can not be made in this version,',
    'which has no connection to the DGI. Limits: 100 requests a minute for a secret key, 300 for a publishable key or a client_secret.',
    '',
    'An earlier version stays supported for at least 12 months after a new one is published; what will end says so in `Deprecation` and `Sunset`.',
  ].join('\n'),
};

/** What operations are grouped by, and generated clients name their classes by: what a client calls, and what calls it. */
export const TAGS = {
  Invoices: 'Create, read, list and follow invoices.',
  'Webhook endpoints': 'Where events are sent.',
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
    description: 'Quote it to support.',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9a-f-]{36}$' },
    example: 'req_550e8400-e29b-41d4-a716-446655440000',
  },
  'X-RateLimit-Limit': count('Requests a minute.', 100),
  'X-RateLimit-Remaining': count('Requests left in the present minute.', 99),
  'X-RateLimit-Reset': count('When the minute ends, UNIX time in seconds.', 1769860860),
  'RateLimit-Policy': { ...text("The limit, as the IETF's draft writes it.", '"minute";q=100;w=60'), required: true },
  RateLimit: { ...text('What is left of it, and for how many seconds.', '"minute";r=99;t=60'), required: true },
  ETag: {
    description: 'Changes whenever the body does.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[A-Za-z0-9_-]+"$' },
    example: 'W/"zyjTBnXyhQWzGIQZCyY1oiUXFHA"',
  },
  'Idempotent-Replayed': {
    description: 'Present when an earlier request with this Idempotency-Key had created it.',
    schema: { type: 'string', const: 'true' },
  },
  'Fatoura-Warnings': {
    description: [
      'Present when the law or the tax authority may take something about the invoice amiss: codes, each once, separated by commas.',
      'Nothing is refused for them, and there may be more codes in time:',
      '',
      ...Object.entries(INVOICE_WARNINGS).map(([code, { meaning, remedy }]) => `- \`${code}\`: ${meaning} ${remedy}`),
    ].join('\n'),
    schema: { type: 'string', pattern: '^[a-z_]+(, [a-z_]+)*$' },
    example: 'customer_address_missing, due_date_missing',
  },
  'Retry-After': { description: 'Seconds.', required: true, schema: { type: 'integer', minimum: 1 }, example: 30 },
  'WWW-Authenticate': { ...text('RFC 6750.', 'Bearer realm="fatoura"'), required: true },
} as const;

/** Those of every answer. */
export const COMMON_HEADERS = [
  'Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
] as const satisfies readonly (keyof typeof HEADERS)[];

/** Those of some failures. */
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

/** Headers of requests. Without examples: the reference page would send them. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': requestHeader(
    'Idempotency-Key',
    'The same key and body never create a second invoice. Bare, or quoted as in the IETF draft: `a` and `"a"` are two keys. Characters beyond ASCII are ' +
      'written in UTF-8. 255 characters at most, quotes not counted.',
    { minLength: 1, maxLength: 257, pattern: '^[!-~]+( [!-~]+)*$' },
  ),
  'If-None-Match': requestHeader('If-None-Match', 'An ETag: 304 while nothing has changed.'),
  'Last-Event-ID': requestHeader(
    'Last-Event-ID',
    'Resumes after this message of the invoice. Any other id is treated as none: the present status comes first.',
  ),
};

/** What proves who sends an event, and what is told beside it. @param environment the schema of an environment's name */
export const webhookHeaders = (environment: object) => [
  {
    ...requestHeader(
      'Service-Signature',
      '`t`: UNIX time of sending, refuse what is more than 5 minutes off. `v1`: HMAC-SHA256, in lower-case hexadecimal digits, of `t`, a dot and the ' +
        'raw body, keyed with the whole secret (`whsec_…`); while a secret is rotated there is one for each.',
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
    ...requestHeader('Fatoura-Environment', 'Where the invoice was created.', {}, 'test'),
    schema: environment,
    required: true,
  },
  requestHeader(
    'Fatoura-Trigger',
    '`manual` on what somebody sent by hand, a test event or an event that is sent again; absent otherwise.',
    { const: 'manual' },
    'manual',
  ),
];

/** One scheme for the three credentials: of several that share a header, generated clients send whichever was set first. */
export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: [
      'One of three credentials; each operation says which it takes.',
      '',
      '- Secret key (`sk_test_…`, `sk_live_…`), for back ends only: reads and writes everything of its tenant and environment.',
      '- `client_secret` of an invoice (`inv_…_secret_…`), for front ends: reads and follows that invoice.',
      '- Publishable key (`pk_test_…`, `pk_live_…`), for front ends: the same, with the `client_secret` as a query parameter.',
    ].join('\n'),
  },
};
