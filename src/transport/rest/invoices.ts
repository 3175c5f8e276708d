import type { Context } from 'koa';
import { ServiceError } from '../../domain/errors.ts';
import { problemsOf } from '../../domain/input-problems.ts';
import { idempotencyKeyProblem, inputOfRestBody, restInvoiceBody } from '../../domain/invoice/create-invoice-input.ts';
import { listInvoicesQuery } from '../../domain/invoice/list-invoices-input.ts';
import type { Principal } from '../../domain/principal.ts';
import { prepare } from '../../graphql/execute.ts';
import { readJson } from '../body.ts';
import { clientSecretOf, parseQuery, refuseQuery } from './query.ts';
import type { Route } from './routes.ts';
import { streamStatus } from './stream.ts';

/** What the invoices' routes need besides the schema. */
export interface InvoiceRoutesParts {
  /** Throws idempotency_conflict when the caller has used the key before: asked when a body is not valid. */
  readonly refuseReusedKey: (principal: Principal, idempotencyKey: string) => Promise<void>;
}

const FIELDS = `
  id status amount currency
  customer { ice name }
  lines { description quantity unit_price: unitPrice tax_rate: taxRate amount }
  metadata
  xml_url: xmlUrl pdf_url: pdfUrl dgi_id: dgiId rejection_reason: rejectionReason
  created_at: createdAt updated_at: updatedAt`;

type InvoiceData = Readonly<Record<string, unknown>> & { readonly id: string };

const create = prepare<{ createInvoice: { invoice: InvoiceData; clientSecret: string; replayed: boolean } }>(`
  mutation ($input: CreateInvoiceInput!, $idempotencyKey: String) {
    createInvoice(input: $input, idempotencyKey: $idempotencyKey) { invoice { ${FIELDS} } clientSecret replayed }
  }`);

const read = prepare<{ invoice: InvoiceData }>(`
  query ($id: ID!, $clientSecret: String) { invoice(id: $id, clientSecret: $clientSecret) { ${FIELDS} } }`);

const list = prepare<{
  invoices: { edges: { node: InvoiceData }[]; pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean } };
}>(`
  query ($status: InvoiceStatus, $first: Int, $last: Int, $after: String, $before: String, $createdAfter: DateTime, $createdBefore: DateTime) {
    invoices(status: $status, first: $first, last: $last, after: $after, before: $before, createdAfter: $createdAfter, createdBefore: $createdBefore) {
      edges { node { ${FIELDS} } }
      pageInfo { hasNextPage hasPreviousPage }
    }
  }`);

/** The invoices' endpoints (specification, "Endpoints"). */
export function invoiceRoutes({ refuseReusedKey }: InvoiceRoutesParts): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/invoices',
      secretKeyOnly: true,
      async handle(ctx, graphql) {
        refuseQuery(ctx, []);
        const idempotencyKey = idempotencyKeyOf(ctx);
        const parsed = restInvoiceBody.safeParse(await readJson(ctx));
        if (!parsed.success) {
          if (idempotencyKey !== null) await refuseReusedKey(graphql.principal, idempotencyKey);
          throw new ServiceError(problemsOf(parsed.error));
        }
        const { createInvoice } = await create.execute(graphql, {
          input: inputOfRestBody(parsed.data),
          idempotencyKey,
        });
        if (createInvoice.replayed) ctx.set('Idempotent-Replayed', 'true');
        ctx.status = 201;
        ctx.body = bodyOf(createInvoice.invoice, createInvoice.clientSecret);
      },
    },
    {
      method: 'GET',
      path: '/v1/invoices/:id',
      secretKeyOnly: false,
      async handle(ctx, graphql) {
        refuseQuery(ctx, ['client_secret']);
        const { invoice } = await read.execute(graphql, { id: ctx.params.id, clientSecret: clientSecretOf(ctx) });
        ctx.body = bodyOf(invoice);
      },
    },
    {
      method: 'GET',
      path: '/v1/invoices',
      secretKeyOnly: true,
      async handle(ctx, graphql) {
        const query = parseQuery(ctx, listInvoicesQuery);
        const backwards = query.ending_before !== undefined;
        const { invoices } = await list.execute(graphql, {
          status: query.status,
          [backwards ? 'last' : 'first']: query.limit,
          after: query.starting_after,
          before: query.ending_before,
          createdAfter: query.created_after?.toISOString(),
          createdBefore: query.created_before?.toISOString(),
        });
        const data = invoices.edges.map(({ node }) => bodyOf(node));
        ctx.body = {
          object: 'list',
          data,
          has_more: backwards ? invoices.pageInfo.hasPreviousPage : invoices.pageInfo.hasNextPage,
          next_cursor: data.at(-1)?.id ?? null,
        };
      },
    },
    {
      method: 'GET',
      path: '/v1/invoices/:id/stream',
      secretKeyOnly: false,
      async handle(ctx, graphql) {
        refuseQuery(ctx, ['client_secret']);
        await streamStatus(ctx, graphql, { id: ctx.params.id, clientSecret: clientSecretOf(ctx) });
      },
    },
  ];
}

/** The invoice object with its fields in the specification's order. */
function bodyOf({ id, ...fields }: InvoiceData, clientSecret?: string) {
  return { id, object: 'invoice', ...(clientSecret !== undefined && { client_secret: clientSecret }), ...fields };
}

/** Both forms are taken: the bare string, and the quoted one of the IETF draft. */
function idempotencyKeyOf(ctx: Context): string | null {
  const header = ctx.headers['idempotency-key'];
  if (header === undefined) return null;
  const text = Array.isArray(header) ? header.join(', ') : header;
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  const unusable = idempotencyKeyProblem(key);
  if (unusable) throw new ServiceError([unusable]);
  return key;
}
