import { z } from 'zod';
import { ERROR_CODES, exampleOfError, rowOfError, statusesOf } from '../../domain/error-codes.ts';
import { serviceError } from '../../domain/errors.ts';
import { eventTypesOf } from '../../domain/event.ts';
import { CUSTOMER } from '../../domain/invoice/customer-fields.ts';
import { currency } from '../../domain/invoice/field-input.ts';
import {
  answeredFields,
  eventFields,
  exampleOf,
  type Field,
  isNullable,
  type RecordType,
  type ValueType,
} from '../../domain/invoice/field-table.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';
import { INVOICE_LINE } from '../../domain/invoice/line-fields.ts';
import { invoiceStatus } from '../../domain/invoice/list-invoices-input.ts';
import { TAX_RATES } from '../../domain/invoice/tax-rate.ts';
import { MAX_ENDPOINTS, PAGE_SIZE } from '../../domain/limits.ts';
import { ENVIRONMENTS } from '../../domain/tenant/tenant.ts';
import { errorBody } from './errors.ts';
import { INCLUDED_MEMBERS, INCLUDED_OF_CUSTOMER, INCLUDED_OF_LINE } from './include.ts';

// Schemas of answers (docs/api/contract.md). The OpenAPI document contains them, and tests validate every answer
// against them. Their ids name the components of the document.

/** Makes the schema of an identifier: a prefix and a UUID (docs/api/contract.md, "Conventions"). */
function idSchema(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`))
    .meta({ examples: [`${prefix}_550e8400-e29b-41d4-a716-446655440000`] });
}

const timestampSchema = z.string().meta({
  id: 'Timestamp',
  format: 'date-time',
  description: 'ISO 8601, UTC, whole seconds.',
  examples: ['2026-01-31T12:00:00Z'],
});

export const environmentSchema = z.enum(ENVIRONMENTS).meta({
  id: 'Environment',
  description: 'The environment of an invoice. A key only sees data of its own environment.',
});

/**
 * The keyword for the known members of a set that may grow within a version. It is not `enum`, because generated
 * clients would refuse a whole answer for one newer value.
 */
const KNOWN = 'x-extensible-enum';

/** The types of events in answers, where an endpoint may have others. In requests the set is closed. */
const eventTypeSchema = z
  .string()
  .meta({ [KNOWN]: eventTypesOf('invoice'), description: 'The type. More may be added.' });

/** The shape of an identifier of an invoice. */
export const invoiceIdSchema = idSchema('inv').meta({ id: 'InvoiceId' });

/** The schema of each type of value in answers. */
const SCHEMAS: Readonly<Record<ValueType, z.ZodType>> = {
  id: invoiceIdSchema,
  ids: z.array(z.string()),
  text: z.string(),
  ice: z.string().regex(/^[0-9]{15}$/),
  customerKind: z.string(),
  integer: z.int(),
  decimal: z.number(),
  boolean: z.boolean(),
  unit: z.string(),
  exemptionCode: z.string(),
  centimes: z.int(),
  taxRate: z.int().meta({ [KNOWN]: TAX_RATES }),
  currency,
  status: invoiceStatus,
  environment: environmentSchema,
  paymentMeans: z.string(),
  timestamp: timestampSchema,
  metadata: z.record(z.string(), z.string()),
  url: z.url(),
};

/** Returns the schemas of an answer's members, in the order of the table. */
function shapeOf(type: RecordType): Record<string, z.ZodType> {
  return Object.fromEntries(answeredFields(type).map(({ rest, field }) => [rest, schemaOf(field)]));
}

function schemaOf(field: Field): z.ZodType {
  const schema = bareSchemaOf(field);
  return (isNullable(field) ? schema.nullable() : schema).meta({ description: field.description });
}

function bareSchemaOf(field: Field): z.ZodType {
  if ('record' in field) {
    const included = field.record === CUSTOMER ? INCLUDED_OF_CUSTOMER : {};
    return z.strictObject({ ...shapeOf(field.record), ...included }).meta({ id: field.record.restName });
  }
  if ('list' in field) {
    const included = field.list === INVOICE_LINE ? INCLUDED_OF_LINE : {};
    const item = z.strictObject({ ...shapeOf(field.list), ...included }).meta({ id: field.list.restName });
    return z.array(item).min(1).max(field.most);
  }
  const schema = SCHEMAS[field.type];
  return schema instanceof z.ZodNumber ? schema.min(field.minimum ?? 0) : schema;
}

const clientSecretSchema = z
  .string()
  .regex(/^inv_[0-9a-f-]{36}_secret_[A-Za-z0-9_-]{24,}$/)
  .meta({ description: 'Read-only access to this one invoice. Shown in the answer to the creation only.' });

const { id: idMember, ...members } = shapeOf(INVOICE);
const { id: exampleId, ...exampleMembers } = exampleOf(INVOICE, 'answer');
const object = z.literal('invoice');
const invoiceExample = { id: exampleId, object: 'invoice', ...exampleMembers };

/** An invoice in answers to reads. */
export const invoiceSchema = z
  .strictObject({ id: idMember, object, ...members, ...INCLUDED_MEMBERS })
  .meta({ id: INVOICE.restName, examples: [invoiceExample] });

/**
 * An invoice in the answer to its creation: with its client_secret, the status `pending`, and null for values that are
 * not known yet. Its fields have the types of {@link invoiceSchema}.
 */
export const createdInvoiceSchema = z
  .strictObject({ id: idMember, object, client_secret: clientSecretSchema, ...members, ...INCLUDED_MEMBERS })
  .meta({
    id: 'CreatedInvoice',
    examples: [
      {
        id: exampleId,
        object: 'invoice',
        client_secret: `${exampleId}_secret_cl9Jr0R3h2t7vNqWcY5uKxZb1mGdPaEo`,
        ...exampleMembers,
        status: 'pending',
        xml_url: null,
        pdf_url: null,
        dgi_id: null,
        updated_at: exampleMembers.created_at,
      },
    ],
  });

/** A page (docs/api/contract.md, "GET /v1/invoices"). */
export const invoiceListSchema = z
  .strictObject({
    object: z.literal('list'),
    data: z.array(invoiceSchema).max(PAGE_SIZE.most).meta({ description: 'Newest first.' }),
    has_more: z.boolean(),
    next_cursor: idSchema('inv')
      .nullable()
      .meta({ description: 'The id of the last object; null when there is none.' }),
  })
  .meta({
    id: 'InvoiceList',
    examples: [{ object: 'list', data: [invoiceExample], has_more: false, next_cursor: exampleId }],
  });

const messageExample = {
  id: exampleId,
  object: 'invoice',
  status: 'signing',
  dgi_id: null,
  rejection_reason: null,
  updated_at: exampleMembers.created_at,
};
const { status, dgi_id, rejection_reason, updated_at } = members;

/** The data of a message in the stream of an invoice (docs/decisions/0023). */
export const statusMessageSchema = z
  .strictObject({ id: idMember, object, status, dgi_id, rejection_reason, updated_at })
  .meta({ id: 'StatusMessage', examples: [messageExample] });

/** An example of such a message as sent. */
export const STREAM_EXAMPLE = `id: evt_550e8400-e29b-41d4-a716-446655440000\ndata: ${JSON.stringify(messageExample)}\n\n`;

/** The shape of an identifier of a webhook endpoint. */
export const endpointIdSchema = idSchema('we').meta({ id: 'WebhookEndpointId' });

const endpointFields = {
  id: endpointIdSchema,
  object: z.literal('webhook_endpoint'),
  url: z.string().meta({ description: 'The https:// address that receives events.' }),
  events: z.array(eventTypeSchema).min(1).meta({ uniqueItems: true, description: 'The subscribed types, each once.' }),
  description: z.string().nullable(),
  active: z.boolean().meta({ description: 'False: nothing is delivered to the endpoint.' }),
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

/** A webhook endpoint in answers to reads and changes (docs/api/contract.md, "Webhook endpoint"). */
export const endpointSchema = z
  .strictObject(endpointFields)
  .meta({ id: 'WebhookEndpoint', examples: [endpointExample] });

/** A webhook endpoint in the answer to its creation, with its secret. */
export const createdEndpointSchema = z
  .strictObject({
    ...endpointFields,
    secret: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
      .meta({ description: 'The signing secret of its deliveries. Shown in this answer only.' }),
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
    has_more: z.boolean().meta({ description: 'Always false: one page contains all endpoints.' }),
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

/** Selects the members of an answer that are also in the data of an event. */
function snapshotOf<Value>(all: Readonly<Record<string, Value>>): Record<string, Value> {
  const names = eventFields(INVOICE).map(({ rest }) => rest);
  return Object.fromEntries(names.flatMap((name) => (name in all ? [[name, all[name] as Value]] : [])));
}

const eventExample = {
  id: 'evt_550e8400-e29b-41d4-a716-446655440000',
  object: 'event',
  type: 'invoice.accepted',
  created: 1769860802,
  data: { id: exampleId, object: 'invoice', ...snapshotOf(exampleMembers) },
};

/** The body of a delivery (docs/api/contract.md, "Event"). */
export const eventSchema = z
  .strictObject({
    id: idSchema('evt').meta({ description: 'An event may arrive more than once: deduplicate by this id.' }),
    object: z.literal('event'),
    type: eventTypeSchema,
    created: z.int().meta({ description: 'UNIX time in seconds.' }),
    data: z
      .strictObject({ id: idMember, object, ...snapshotOf(members) })
      .meta({ id: 'InvoiceSnapshot', description: 'The invoice right after the event.' }),
  })
  .meta({ id: 'InvoiceEvent', examples: [eventExample] });

const errorCodeSchema = z.string().meta({
  id: 'ErrorCode',
  [KNOWN]: ERROR_CODES,
  description: [
    'For programs. More may be added.\n',
    ...ERROR_CODES.map((code) => {
      const { description, remedy } = rowOfError(code);
      return `- \`${code}\` (${statusesOf(code).join(', ')}): ${description} ${remedy}`;
    }),
  ].join('\n'),
});

/** The error body (docs/api/contract.md, "Errors"). Not named `Error`, which exists in several languages. */
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
    examples: [errorBody(serviceError('invalid_ice', ...exampleOfError('invalid_ice')))],
  });
