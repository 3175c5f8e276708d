import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openApiDocument } from '../../src/transport/rest/openapi.ts';
import { ROUTES } from '../../src/transport/rest/routes.ts';

/** An answer to check against the OpenAPI document. */
export interface Answered {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** The text as it was received. */
  readonly text: string;
}

interface Schema {
  readonly $ref?: string;
  readonly contentSchema?: object;
}
interface Header {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}
interface Response {
  readonly $ref?: string;
  readonly headers?: Record<string, Header>;
  readonly content?: Record<string, { readonly schema: Schema; readonly examples?: object }>;
}
interface Operation {
  readonly responses: Record<string, Response>;
}

/** The document that the service shows. */
export const DOCUMENT = JSON.parse(JSON.stringify(openApiDocument(ROUTES))) as {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, ObjectSchema>;
    parameters: Record<string, { readonly schema: object }>;
    responses: Record<string, Response>;
  };
};

interface ObjectSchema {
  properties?: Record<string, object>;
  additionalProperties?: unknown;
}

/**
 * Limits that the service keeps and the document leaves out, so that generated clients have simple types and accept new
 * fields.
 */
const ALSO: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  CreatedInvoice: {
    status: { const: 'pending' },
    xml_url: { type: 'null' },
    pdf_url: { type: 'null' },
    dgi_id: { type: 'null' },
    rejection_reason: { type: 'null' },
  },
  CreatedWebhookEndpoint: { active: { const: true } },
  WebhookEndpointList: { has_more: { const: false } },
  DeletedWebhookEndpoint: { deleted: { const: true } },
};
for (const schema of Object.values(DOCUMENT.components.schemas)) {
  if (schema.properties) schema.additionalProperties ??= false;
}
closeSets(DOCUMENT.components);
openSubscriptions();
for (const [name, properties] of Object.entries(ALSO)) {
  for (const [property, further] of Object.entries(properties))
    Object.assign(DOCUMENT.components.schemas[name]!.properties![property]!, further);
}
Object.assign(DOCUMENT.components.schemas.Timestamp!, { pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$' });

/** Turns each set that the document leaves open for later members into an `enum`. */
function closeSets(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const schema = value as Record<string, unknown>;
  if (Array.isArray(schema['x-extensible-enum'])) schema.enum = schema['x-extensible-enum'];
  for (const each of Object.values(schema)) closeSets(each);
}

/** Allows the events of credit notes: REST shows them on an endpoint that subscribed to them by other means. */
function openSubscriptions(): void {
  const { items } = DOCUMENT.components.schemas.WebhookEndpoint!.properties!.events as { items: { enum: string[] } };
  const statuses = ['signing', 'transmitted', 'accepted', 'rejected'];
  items.enum = [...items.enum, ...statuses.map((status) => `credit_note.${status}`)];
}

const ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: false });
formats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...DOCUMENT });
const compiled = new Map<unknown, ValidateFunction>();

/** Statuses that any path may answer: for another method, and for what HTTP refuses. */
const ANYWHERE = [405, 408, 414, 417, 431];

/** @throws {Error} where an answer differs from the document: its status, headers, media type or body */
export function checkContract(answered: Answered): void {
  const { status, method } = answered;
  // The path as it was sent: URL would resolve dots.
  const [path = ''] = answered.path.split('?', 1);
  if (!path.startsWith('/v1/') || path === '/v1/openapi.json' || method === 'OPTIONS') return;
  const operation = operationOf(method, path);
  const response = resolved<Response>(
    operation?.responses[String(status)] ??
      (operation === null || ANYWHERE.includes(status) ? { $ref: '#/components/responses/refused' } : undefined),
  );
  if (!response) throw refusal(answered, `status ${status} is not documented`);
  if (operation === null && ![401, 404, 405, 429, 400, 417].includes(status))
    throw refusal(answered, 'an address or method that is not documented answers');
  for (const [name, header] of Object.entries(response.headers ?? {}))
    checkHeader(answered, name, resolved(header) as Header);
  checkBody(answered, response);
}

/** Checks the data of one message of an invoice's stream. */
export function checkMessage(data: unknown): void {
  const validate = validatorOf({ $ref: '#/components/schemas/StatusMessage' });
  if (!validate(data)) throw new Error(`a message is not as documented: ${ajv.errorsText(validate.errors)}`);
}

function operationOf(method: string, path: string): Operation | null {
  for (const [template, operations] of Object.entries(DOCUMENT.paths)) {
    const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    if (pattern.test(path)) return operations[method === 'HEAD' ? 'get' : method.toLowerCase()] ?? null;
  }
  return null;
}

function checkHeader(answered: Answered, name: string, { required, schema }: Header): void {
  const value = answered.headers.get(name);
  if (value === null) {
    if (required) throw refusal(answered, `the header ${name} is missing`);
    return;
  }
  const validate = validatorOf(schema);
  if (!validate(value) && !validate(Number(value)))
    throw refusal(answered, `the header ${name}: ${value} is not as documented`);
}

function checkBody(answered: Answered, { content }: Response): void {
  const { method, headers, text, status } = answered;
  if (!content) {
    if (text !== '') throw refusal(answered, 'there is a body where none is documented');
    return;
  }
  const type = (headers.get('content-type') ?? '').split(';')[0]!;
  const media = content[type];
  if (!media) throw refusal(answered, `the media type ${type} is not documented`);
  if (method === 'HEAD' || type !== 'application/json') return;
  const body: unknown = JSON.parse(text);
  const validate = validatorOf(media.schema);
  if (!validate(body)) throw refusal(answered, ajv.errorsText(validate.errors));
  if (status >= 400 && (body as { error: { status: number } }).error.status !== status)
    throw refusal(answered, 'error.status is not the status');
}

function validatorOf(schema: Schema): ValidateFunction {
  const key = schema.$ref ?? schema;
  const known = compiled.get(key);
  if (known) return known;
  const made = ajv.compile(schema.$ref ? { $ref: `openapi${schema.$ref}` } : relocated(schema));
  compiled.set(key, made);
  return made;
}

function relocated(schema: Schema): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/'));
}

function resolved<T extends { $ref?: string }>(value: T | undefined): T | undefined {
  if (!value?.$ref) return value;
  const steps = value.$ref.split('/').slice(1);
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], DOCUMENT) as T;
}

function refusal({ method, path, status, text }: Answered, what: string): Error {
  return new Error(
    `${method} ${path} answered ${status}, which is not the OpenAPI document's: ${what}. ${text.slice(0, 500)}`,
  );
}
