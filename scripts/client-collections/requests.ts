import { nameOf } from '../client-models/schema.ts';

/** A request of the collections, made of one operation of the document. */
export interface CollectionRequest {
  /** Its summary in the document. */
  readonly name: string;
  /** The tag of the operation: the folder it is in. */
  readonly folder: string;
  readonly method: string;
  /** With `{{variables}}` for the parameters of the path: `/v1/invoices/{{invoice_id}}`. */
  readonly path: string;
  readonly description: string;
  readonly query: readonly Parameter[];
  readonly headers: readonly Parameter[];
  /** The example of its body; null if it has none. */
  readonly body: unknown;
  /** The status of its success. */
  readonly status: number;
  /** The variable that gets the `id` of the answer, for the requests after it; null if it creates nothing. */
  readonly keeps: string | null;
}

/** A parameter of the query or a header. */
export interface Parameter {
  readonly name: string;
  /** Null: the parameter is shown, and not sent until the user gives it a value. */
  readonly value: string | null;
  readonly description: string;
}

/** The parts of `openapi.json` that are read. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, ApiParameter>> };
}

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly (ApiParameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: unknown } } };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface ApiParameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: { readonly $ref?: string };
}

/**
 * Returns the document as the programs show it: links to pages of the service lead nowhere there, so they become the
 * address of the page, behind the variable of the service.
 */
export function withoutSiteLinks(document: ApiDocument): ApiDocument {
  const text = JSON.stringify(document).replaceAll(/\[([^\]]+)\]\((\/[^)\s]+)\)/g, '$1 (`{{base_url}}$2`)');
  return JSON.parse(text) as ApiDocument;
}

/** The values of parameters that the collection knows: both programs replace them by a new UUID. */
const VALUES: Readonly<Record<string, string>> = { 'Idempotency-Key': '{{$guid}}' };

/**
 * Makes the requests of the collections, in the order of the document, in which they work one after the other:
 * creations come before reads, and deletions last.
 */
export function collectionRequests({ paths, components }: ApiDocument): CollectionRequest[] {
  const parametersOf = ({ parameters }: Operation) =>
    parameters.map((each) => ('$ref' in each ? components.parameters[nameOf(each.$ref)]! : each));
  /** Returns the variable of a path that ends with an id: `invoice_id` of the schema `InvoiceId`. */
  const variableOf = (operation: Operation): string | null => {
    const { $ref } = parametersOf(operation).find((each) => each.in === 'path')?.schema ?? {};
    return $ref === undefined ? null : snakeCase(nameOf($ref));
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return operations.map(({ path, method, operation }) => {
    const ofOne = operations.find((each) => each.path === `${path}/{id}`)?.operation;
    const variable = variableOf(operation);
    const given = (place: string) =>
      parametersOf(operation)
        .filter((each) => each.in === place)
        .map(({ name, description = '' }) => ({ name, value: VALUES[name] ?? null, description }));
    return {
      name: operation.summary,
      folder: operation.tags[0] ?? '',
      method,
      path: path.replace('{id}', `{{${variable}}}`),
      description: operation.description,
      query: given('query'),
      headers: given('header'),
      body: operation.requestBody?.content['application/json'].example ?? null,
      status: Number(Object.keys(operation.responses).find((status) => status.startsWith('2'))),
      keeps: method === 'post' && ofOne ? variableOf(ofOne) : null,
    };
  });
}

/** The services that the collections have an environment for. The key is never a part of it. */
export const ENVIRONMENTS: Readonly<Record<string, string>> = {
  Local: 'http://localhost:3000',
  Hosted: 'https://invoices.example',
};

const snakeCase = (name: string): string => name.replaceAll(/(?<!^)(?=[A-Z])/g, '_').toLowerCase();
