import { z } from 'zod';
import { ERROR_STATUS, type ErrorCode } from '../../domain/errors.ts';
import { currency, taxRate } from '../../domain/invoice/create-invoice-input.ts';
import { invoiceStatus } from '../../domain/invoice/list-invoices-input.ts';
import { ENVIRONMENTS } from '../../domain/tenant/tenant.ts';
import { MAX_ENDPOINTS } from '../../domain/webhook/endpoint.ts';
import { eventType } from '../../domain/webhook/endpoint-input.ts';
import { ERROR_GUIDE_MARKDOWN } from './error-guide.ts';

// What the interface answers (specification, "Resources and their fields"): the OpenAPI document shows it, and the tests hold every answer
// against it. Ids name the document's components.

/** An identifier: prefix and UUID (specification, "Conventions"). */
export function idSchema(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`))
    .meta({ examples: [`${prefix}_550e8400-e29b-41d4-a716-446655440000`] });
}

export const timestampSchema = z.string().meta({
  id: 'Timestamp',
  format: 'date-time',
  description: 'ISO 8601, UTC, whole seconds.',
  examples: ['2026-01-31T12:00:00Z'],
});

export const environmentSchema = z
  .enum(ENVIRONMENTS)
  .meta({ id: 'Environment', description: 'Where an invoice was created; keys see the data of their own one only.' });

const lineSchema = z
  .strictObject({
    description: z.string(),
    quantity: z.int().positive(),
    unit_price: z.int().nonnegative().meta({ description: 'Excluding tax, in centimes.' }),
    tax_rate: taxRate,
    amount: z.int().nonnegative().meta({ description: 'quantity × unit_price.' }),
  })
  .meta({ id: 'Line' });

const clientSecretSchema = z
  .string()
  .regex(/^inv_[0-9a-f-]{36}_secret_[A-Za-z0-9_-]{24,}$/)
  .meta({ description: 'Read-only access to this one invoice. Shown in the answer to the creation only.' });

const dgiId = z.string().nullable().meta({ description: "The tax authority's identifier; set only when accepted." });
const rejectionReason = z.string().nullable().meta({ description: 'Free text; set only when rejected.' });

const invoiceFields = {
  status: invoiceStatus,
  amount: z.int().min(100).meta({ description: 'Total including tax, in centimes.' }),
  currency,
  customer: z.strictObject({ ice: z.string().regex(/^[0-9]{15}$/), name: z.string() }).meta({ id: 'Customer' }),
  lines: z.array(lineSchema).min(1).max(1000),
  metadata: z.record(z.string(), z.string()).meta({ description: "The client's own data, echoed back." }),
  xml_url: z.url().nullable().meta({ description: 'The signed XML; set when accepted.' }),
  pdf_url: z.url().nullable().meta({ description: 'The PDF; set when accepted.' }),
  dgi_id: dgiId,
  rejection_reason: rejectionReason,
  created_at: timestampSchema,
  updated_at: timestampSchema.meta({ description: 'When the status last changed.' }),
};

/** The shape of an identifier of an invoice. */
export const invoiceIdSchema = idSchema('inv').meta({ id: 'InvoiceId' });

const invoiceExample = {
  id: 'inv_550e8400-e29b-41d4-a716-446655440000',
  object: 'invoice',
  status: 'accepted',
  amount: 12000,
  currency: 'MAD',
  customer: { ice: '001234567000062', name: 'Atlas Distribution SARL' },
  lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000, tax_rate: 20, amount: 10000 }],
  metadata: { order: '4711' },
  xml_url: 'https://example.com/files/inv_550e8400-e29b-41d4-a716-446655440000/capability.xml',
  pdf_url: 'https://example.com/files/inv_550e8400-e29b-41d4-a716-446655440000/capability.pdf',
  dgi_id: 'DGI-2026-000123',
  rejection_reason: null,
  created_at: '2026-01-31T12:00:00Z',
  updated_at: '2026-01-31T12:00:02Z',
};

/** An invoice as it is read. */
export const invoiceSchema = z
  .strictObject({ id: invoiceIdSchema, object: z.literal('invoice'), ...invoiceFields })
  .meta({ id: 'Invoice', examples: [invoiceExample] });

const { id: exampleId, object: exampleObject, ...exampleFields } = invoiceExample;

/** The same in the answer to its creation: `pending`, and null what is not known yet. In the types of {@link invoiceSchema}: whatever takes an invoice takes this. */
export const createdInvoiceSchema = z
  .strictObject({
    id: invoiceIdSchema,
    object: z.literal('invoice'),
    client_secret: clientSecretSchema,
    ...invoiceFields,
  })
  .meta({
    id: 'CreatedInvoice',
    examples: [
      {
        id: exampleId,
        object: exampleObject,
        client_secret: `${exampleId}_secret_cl9Jr0R3h2t7vNqWcY5uKxZb1mGdPaEo`,
        ...exampleFields,
        ...{ status: 'pending', xml_url: null, pdf_url: null, dgi_id: null },
        updated_at: exampleFields.created_at,
      },
    ],
  });

/** A page (specification, "GET /v1/invoices"). */
export const invoiceListSchema = z
  .strictObject({
    object: z.literal('list'),
    data: z.array(invoiceSchema).max(100).meta({ description: 'Newest first.' }),
    has_more: z.boolean(),
    next_cursor: idSchema('inv')
      .nullable()
      .meta({ description: 'The id of the last object; null when there is none.' }),
  })
  .meta({
    id: 'InvoiceList',
    examples: [{ object: 'list', data: [invoiceExample], has_more: false, next_cursor: invoiceExample.id }],
  });

const messageExample = {
  id: invoiceExample.id,
  object: 'invoice',
  status: 'signing',
  dgi_id: null,
  rejection_reason: null,
  updated_at: invoiceExample.created_at,
};

/** The data of one message of an invoice's stream (design, section 5, "stream"). */
export const statusMessageSchema = z
  .strictObject({
    id: invoiceIdSchema,
    object: z.literal('invoice'),
    status: invoiceStatus,
    dgi_id: dgiId,
    rejection_reason: rejectionReason,
    updated_at: timestampSchema,
  })
  .meta({ id: 'StatusMessage', examples: [messageExample] });

/** The octets of such a message. */
export const STREAM_EXAMPLE = `id: evt_550e8400-e29b-41d4-a716-446655440000\ndata: ${JSON.stringify(messageExample)}\n\n`;

/** The shape of an identifier of a webhook endpoint. */
export const endpointIdSchema = idSchema('we').meta({ id: 'WebhookEndpointId' });

const endpointFields = {
  id: endpointIdSchema,
  object: z.literal('webhook_endpoint'),
  url: z.string().meta({ description: 'The https:// address that receives events.' }),
  events: z.array(eventType).min(1).meta({ uniqueItems: true, description: 'The subscribed types, each once.' }),
  description: z.string().nullable(),
  active: z.boolean().meta({ description: 'Nothing is delivered to an endpoint that is not.' }),
  created_at: timestampSchema,
};

const endpointExample = {
  id: 'we_550e8400-e29b-41d4-a716-446655440000',
  object: 'webhook_endpoint',
  url: 'https://example.com/webhooks',
  events: ['invoice.accepted', 'invoice.rejected'],
  description: null,
  active: true,
  created_at: '2026-01-31T12:00:00Z',
};

/** A webhook endpoint as it is listed and changed (specification, "Webhook endpoint"). */
export const endpointSchema = z
  .strictObject(endpointFields)
  .meta({ id: 'WebhookEndpoint', examples: [endpointExample] });

/** The same in the answer to its creation. */
export const createdEndpointSchema = z
  .strictObject({
    ...endpointFields,
    secret: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
      .meta({ description: 'The signing secret of its deliveries, whole. Shown in this answer only.' }),
  })
  .meta({
    id: 'CreatedWebhookEndpoint',
    examples: [{ ...endpointExample, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwK5vYH3QpT1A=' }],
  });

/** All endpoints in the list envelope. */
export const endpointListSchema = z
  .strictObject({
    object: z.literal('list'),
    data: z.array(endpointSchema).max(MAX_ENDPOINTS),
    has_more: z.boolean().meta({ description: 'Always false: all endpoints are in the one page.' }),
    next_cursor: idSchema('we').nullable().meta({ description: 'The id of the last object; null when there is none.' }),
  })
  .meta({
    id: 'WebhookEndpointList',
    examples: [{ object: 'list', data: [endpointExample], has_more: false, next_cursor: endpointExample.id }],
  });

export const deletedEndpointSchema = z
  .strictObject({
    id: endpointIdSchema,
    object: z.literal('webhook_endpoint'),
    deleted: z.boolean().meta({ description: 'Always true.' }),
  })
  .meta({
    id: 'DeletedWebhookEndpoint',
    examples: [{ id: endpointExample.id, object: 'webhook_endpoint', deleted: true }],
  });

const { lines: _lines, ...dataFields } = invoiceFields;

const { lines: _exampleLines, ...exampleData } = invoiceExample;
const eventExample = {
  id: 'evt_550e8400-e29b-41d4-a716-446655440000',
  object: 'event',
  type: 'invoice.accepted',
  created: 1769860802,
  data: exampleData,
};

/** What webhook endpoints receive (specification, "Event"). */
export const eventSchema = z
  .strictObject({
    id: idSchema('evt').meta({ description: 'The same event may arrive more than once: deduplicate by this.' }),
    object: z.literal('event'),
    type: eventType,
    created: z.int().meta({ description: 'UNIX time in seconds.' }),
    data: z
      .strictObject({ id: invoiceIdSchema, object: z.literal('invoice'), ...dataFields })
      .meta({ id: 'InvoiceSnapshot', description: 'The invoice as it was right after this change.' }),
  })
  .meta({ id: 'InvoiceEvent', examples: [eventExample] });

const errorCodeSchema = z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]).meta({
  id: 'ErrorCode',
  description: `For programs. More may be added.\n\n${ERROR_GUIDE_MARKDOWN}`,
});

/** The error body (specification, "Errors"). Not named `Error`, which several languages have already. */
export const errorSchema = z
  .strictObject({
    error: z
      .strictObject({
        code: errorCodeSchema,
        message: z.string().min(1).meta({ description: 'For a person: what was wrong and what was expected.' }),
        param: z
          .string()
          .nullable()
          .meta({ description: 'Dotted path of the field at fault, such as `customer.ice`.' }),
        status: z.int().min(400).max(599).meta({ description: 'The HTTP status.' }),
      })
      .meta({ id: 'ErrorDetail' }),
  })
  .meta({
    id: 'ErrorResponse',
    examples: [
      {
        error: {
          code: 'invalid_ice',
          message: 'customer.ice must be exactly 15 digits.',
          param: 'customer.ice',
          status: 422,
        },
      },
    ],
  });
