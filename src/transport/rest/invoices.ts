import type { Context } from 'koa';
import { z } from 'zod';
import { ServiceError } from '../../domain/errors.ts';
import { exactly, expected } from '../../domain/input-problems.ts';
import {
  type CreateInvoiceInput,
  idempotencyKeyProblem,
  inputOfRestBody,
  restBodyProblems,
  restInvoiceBody,
} from '../../domain/invoice/create-invoice-input.ts';
import { LIMITS } from '../../domain/invoice/field-input.ts';
import { answeredFields, EXTENSION, type RecordType } from '../../domain/invoice/field-table.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';
import { listInvoicesQuery, NEXT_PAGE } from '../../domain/invoice/list-invoices-input.ts';
import { HEARTBEAT_MS } from '../../domain/limits.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { readJson } from '../body.ts';
import { decodedHeader, singleHeader } from '../headers.ts';
import { answerJson, answerRead } from '../json.ts';
import type { RequestState } from '../state.ts';
import { PUBLISHABLE_KEY } from '../stream-credential.ts';
import { type IncludedName, includeParameter, including, splitIncluded } from './include.ts';
import { inRestNames, restProblem } from './names.ts';
import { HIDDEN, type Route, route } from './route.ts';
import {
  createdInvoiceSchema,
  invoiceIdSchema,
  invoiceListSchema,
  invoiceSchema,
  statusMessageSchema,
} from './schemas.ts';
import { streamStatus } from './stream.ts';

/** The GraphQL selection of an invoice: its fields under their REST names, in the order of the contract. */
const FIELDS = selectionOf(INVOICE);

function selectionOf(type: RecordType): string {
  const selected = answeredFields(type).map(({ name, rest, field }) => {
    const [first = name, ...below] = name.split('.');
    const path = below.reduceRight((selection, step) => ` { ${step}${selection} }`, '');
    const type = 'list' in field ? field.list : 'record' in field ? field.record : null;
    return `${rest}: ${first}${type ? ` { ${selectionOf(type)} }` : path}`;
  });
  return selected.join(' ');
}

/** The REST fields that are nested in GraphQL, with the path to each. */
const NESTED = answeredFields(INVOICE).flatMap(({ name, rest }) => {
  const [, ...below] = name.split('.');
  return below.length > 0 ? [{ rest, below }] : [];
});

type InvoiceData = Readonly<Record<string, unknown>> & { readonly id: string };

const create = including<{
  createInvoice: {
    invoice: InvoiceData & { readonly warnings: readonly { readonly code: string }[] };
    clientSecret: string;
    replayed: boolean;
  };
}>(
  (included) => `
  mutation ($input: CreateInvoiceInput!, $idempotencyKey: String) {
    createInvoice(input: $input, idempotencyKey: $idempotencyKey) {
      ... on CreateInvoicePayload { invoice { ${FIELDS} warnings { code } ${included} } clientSecret replayed }
    }
  }`,
);

const read = including<{ invoice: InvoiceData }>(
  (included) => `
  query ($id: ID!, $clientSecret: String) { invoice(id: $id, clientSecret: $clientSecret) { ${FIELDS} ${included} } }`,
);

/**
 * Makes the query of a page. It selects only whether there is another page in the direction of the cursor, because the
 * other direction would cost another query.
 */
const listing = (more: 'hasNextPage' | 'hasPreviousPage') =>
  including<{ invoices: { edges: { node: InvoiceData }[]; pageInfo: { more: boolean } } }>(
    (included) => `
  query ($status: InvoiceStatus, $customerIce: String, $first: Int, $last: Int, $after: String, $before: String, $createdAfter: DateTime, $createdBefore: DateTime) {
    invoices(status: $status, customerIce: $customerIce, first: $first, last: $last, after: $after, before: $before, createdAfter: $createdAfter, createdBefore: $createdBefore) {
      edges { node { ${FIELDS} ${included} } }
      pageInfo { more: ${more} }
    }
  }`,
  );
/** The query of the invoice with a number. */
const byNumber = including<{ invoiceByNumber: InvoiceData }>(
  (included) => `query ($number: String!) { invoiceByNumber(number: $number) { ${FIELDS} ${included} } }`,
);
const [towardsOlder, towardsNewer] = [listing('hasNextPage'), listing('hasPreviousPage')];

const once = z.string({ error: 'must be given once' }).optional();
const client_secret = once.meta({ description: "With a publishable key: the invoice's client_secret." });
const creationQuery = exactly({ include: includeParameter }, 'query parameters');
const readQuery = exactly({ client_secret, include: includeParameter }, 'query parameters');
const listQuery = listInvoicesQuery
  .safeExtend({
    include: includeParameter,
    number: z
      .string({ error: 'must be given once' })
      .max(LIMITS.number, { error: expected(`a number of at most ${LIMITS.number} characters`) })
      .optional()
      .meta({ [EXTENSION]: true, description: 'Only the invoice with this legal number. Not with other filters.' }),
    customer_ice: z
      .string({ error: 'must be given once' })
      .regex(/^\d{15}$/, { error: expected('15 digits') })
      .optional()
      .meta({ [EXTENSION]: true, description: 'Only invoices of the customer with this ICE. Not with `status`.' }),
  })
  .superRefine(({ number, limit: _limit, include: _include, ...others }, context) => {
    const [other] = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    if (number !== undefined && other !== undefined)
      context.addIssue({ code: 'custom', path: ['number'], message: `cannot be combined with ${other}` });
  });

/**
 * The query parameters of the stream, with those of a browser's EventSource, which cannot send headers
 * (docs/decisions/0023). Generated clients can send headers and get no parameters for these: in some languages their
 * names would clash with those of the headers.
 */
const streamQuery = exactly(
  {
    client_secret: once.meta({
      description: "The invoice's client_secret: with a publishable key, or as the credential.",
    }),
    [PUBLISHABLE_KEY]: once.meta({ [HIDDEN]: true }),
    lastEventId: once.meta({ [HIDDEN]: true }),
  },
  'query parameters',
);

/** The endpoints for invoices (docs/api/contract.md, "Endpoints"). */
export const INVOICE_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/invoices',
    operation: 'createInvoice',
    group: 'Invoices',
    summary: 'Create an invoice',
    description:
      'Stores the invoice as `pending` and answers at once; processing continues asynchronously. With an `Idempotency-Key`, repeating the request ' +
      'never creates a second invoice: it gets the first answer again, with `Idempotent-Replayed: true`. The header `Fatoura-Warnings` lists possible ' +
      'problems with the law or the tax authority; [the documentation](/docs/warnings) lists the codes, and GraphQL (`invoice { warnings { … } }`) explains them.',
    useCase: 'createInvoice',
    query: creationQuery,
    headers: ['Idempotency-Key'],
    body: restInvoiceBody,
    answers: {
      201: {
        description: 'Created.',
        schema: createdInvoiceSchema,
        headers: ['Idempotent-Replayed', 'Fatoura-Warnings'],
      },
    },
    rules: [
      'amount_too_small',
      'amount_mismatch',
      'invalid_ice',
      'duplicate_number',
      'invalid_date',
      'invalid_bank_account',
    ],
    async handle(ctx, graphql, { include }, { refuseReusedKey }) {
      const input = await readInput(ctx);
      const idempotencyKey = idempotencyKeyOf(ctx);
      if (input instanceof ServiceError) {
        if (idempotencyKey !== null) await inRestNames(refuseReusedKey(graphql.principal, idempotencyKey));
        throw input;
      }
      const { createInvoice } = await inRestNames(create(include).execute(graphql, { input, idempotencyKey }));
      (ctx.state as RequestState).createdId = createInvoice.invoice.id;
      if (createInvoice.replayed) ctx.set('Idempotent-Replayed', 'true');
      const { warnings, ...invoice } = createInvoice.invoice;
      if (warnings.length > 0) ctx.set('Fatoura-Warnings', [...new Set(warnings.map(({ code }) => code))].join(', '));
      answerJson(ctx, 201, bodyOf(invoice, include, createInvoice.clientSecret));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/invoices/:id',
    id: invoiceIdSchema,
    operation: 'readInvoice',
    group: 'Invoices',
    summary: 'Read an invoice',
    description: 'Its current state. With the ETag in `If-None-Match` the answer is 304 while nothing has changed.',
    useCase: null,
    query: readQuery,
    headers: ['If-None-Match'],
    answers: { 200: { description: 'The invoice.', schema: invoiceSchema, headers: ['ETag'] } },
    async handle(ctx, graphql, query) {
      const variables = { id: ctx.params.id, clientSecret: query.client_secret ?? null };
      const { invoice } = await inRestNames(read(query.include).execute(graphql, variables));
      answerRead(ctx, bodyOf(invoice, query.include));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/invoices',
    operation: 'listInvoices',
    group: 'Invoices',
    summary: 'List invoices',
    description: `The invoices of the key's tenant and environment, newest first. ${NEXT_PAGE} A page may have fewer objects than \`limit\`.`,
    useCase: 'invoices',
    query: listQuery,
    headers: ['If-None-Match'],
    answers: { 200: { description: 'A page.', schema: invoiceListSchema, headers: ['ETag'] } },
    async handle(ctx, graphql, query) {
      if (query.number !== undefined) {
        const found = await invoiceOfNumber(graphql, query.number, query.include);
        answerRead(ctx, listOf(found === null ? [] : [bodyOf(found, query.include)], false));
        return;
      }
      const backwards = query.ending_before !== undefined;
      const page = {
        status: query.status,
        customerIce: query.customer_ice,
        [backwards ? 'last' : 'first']: query.limit,
        after: query.starting_after,
        before: query.ending_before,
        createdAfter: query.created_after?.toISOString(),
        createdBefore: query.created_before?.toISOString(),
      };
      const list = backwards ? towardsNewer : towardsOlder;
      const { invoices } = await inRestNames(list(query.include).execute(graphql, page));
      const data = invoices.edges.map(({ node }) => bodyOf(node, query.include));
      answerRead(ctx, listOf(data, invoices.pageInfo.more));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/invoices/:id/stream',
    id: invoiceIdSchema,
    operation: 'streamInvoice',
    group: 'Invoices',
    summary: 'Follow an invoice live',
    description:
      'Server-Sent Events: the current status if it is past `pending`, then each change once and in order. Each message has an `id` and, ' +
      `as \`data\`, the JSON object below. A comment is sent every ${HEARTBEAT_MS / 1000} s. The stream ends after \`accepted\` or \`rejected\`; reconnecting ` +
      'with `Last-Event-ID` then answers 204.\n\n' +
      "For a browser's own EventSource, which can send no header: without `Authorization` the query is the credential, `client_secret` alone or with a " +
      '`publishable_key`. `lastEventId` stands for `Last-Event-ID` where that is not sent.',
    useCase: null,
    query: streamQuery,
    headers: ['Last-Event-ID'],
    answers: {
      200: { description: 'The stream.', schema: statusMessageSchema, type: 'text/event-stream' },
      204: { description: 'There are no more events: `Last-Event-ID` was the final one.' },
    },
    handle: (ctx, graphql, { client_secret: clientSecret = null, lastEventId = null }, { streams }) =>
      streamStatus(ctx, graphql, { id: ctx.params.id, clientSecret, lastEventId }, streams),
  }),
];

function listOf(data: readonly { readonly id: string }[], hasMore: boolean) {
  return { object: 'list', data, has_more: hasMore, next_cursor: data.at(-1)?.id ?? null };
}

/** Finds the invoice of a legal number; null if there is none. */
async function invoiceOfNumber(
  graphql: GraphQLContext,
  number: string,
  include: readonly IncludedName[] | undefined,
): Promise<InvoiceData | null> {
  try {
    return (await byNumber(include).execute(graphql, { number })).invoiceByNumber;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'resource_not_found') return null;
    throw error;
  }
}

/** Builds the invoice object with its fields in the order of the contract, and the included members after them. */
function bodyOf({ id, ...data }: InvoiceData, include?: readonly IncludedName[], clientSecret?: string) {
  const { fields, included } = splitIncluded(data, include);
  const nested = NESTED.map(({ rest, below }) => [rest, below.reduce(memberOf, fields[rest])]);
  return {
    id,
    object: 'invoice',
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...fields,
    ...Object.fromEntries(nested),
    ...included,
  };
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null)?.[name] ?? null;
}

/** Reads the input; returns the error (400) of a body that is not valid. @throws {ServiceError} 413, 415 */
async function readInput(ctx: Context): Promise<CreateInvoiceInput | ServiceError> {
  try {
    const parsed = restInvoiceBody.safeParse(await readJson(ctx));
    return parsed.success ? inputOfRestBody(parsed.data) : new ServiceError(restBodyProblems(parsed.error));
  } catch (error) {
    if (error instanceof ServiceError && error.status === 400) return error;
    throw error;
  }
}

/**
 * Returns the idempotency key as sent. As in GraphQL, a bare string and the quoted string of the IETF draft are
 * different keys.
 */
function idempotencyKeyOf(ctx: Context): string | null {
  const octets = singleHeader(ctx, 'Idempotency-Key');
  if (octets === undefined) return null;
  const key = decodedHeader(octets);
  const unusable = idempotencyKeyProblem(key);
  if (unusable) throw new ServiceError([restProblem(unusable)]);
  return key;
}
