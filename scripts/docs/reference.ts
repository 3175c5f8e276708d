import { cell } from './cell.ts';

/** A schema of the document, with the members that the reference shows. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly 'x-extension'?: true;
}

interface Answer {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
}

/** The parts of `openapi.json` that the reference reads. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, StatedOperation>>>>;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Answer>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface StatedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Answer>>;
}

/** An operation of REST, as other pages name it. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  /** The address of its page as Markdown. */
  readonly page: string;
  /** Of its heading on the page. */
  readonly anchor: string;
  /** The error codes of its answers. */
  readonly errors: readonly string[];
}

/** The blocks of code of an operation, one for each language, by its `operationId`. */
export type Examples = Readonly<Record<string, readonly string[]>>;

/** Returns the slug of the page of a resource. */
function slugOf(tag: string): string {
  return `reference/${tag.toLowerCase().replaceAll(' ', '-')}`;
}

/** Returns the operations of the document, with the errors of their answers. */
export function operationsOf(document: OpenApi): Operation[] {
  return operations(document).map(({ method, path, operation }) => {
    const answers = Object.values(operation.responses).map((answer) => resolved(document, answer, 'responses'));
    const examples = answers.flatMap(({ content = {} }) =>
      Object.values(content).flatMap((each) => Object.values(each.examples ?? {})),
    );
    const codes = examples.flatMap(
      ({ value }) => (value as { readonly error?: { readonly code: string } }).error?.code ?? [],
    );
    const page = `/docs/${slugOf(operation.tags[0] ?? '')}.md`;
    return { method, path, page, anchor: anchorOf(operation.summary), errors: [...new Set(codes)] };
  });
}

/**
 * Writes the page of each resource as Markdown.
 * @returns the pages by their slug
 * @throws Error if an operation has no example
 */
export function referencePages(document: OpenApi, examples: Examples): Record<string, string> {
  const tags = document.tags.filter(({ name }) =>
    operations(document).some(({ operation }) => operation.tags.includes(name)),
  );
  return Object.fromEntries(
    tags.map(({ name, description = '' }) => {
      const own = operations(document).filter(({ operation }) => operation.tags.includes(name));
      const index = own.map(
        ({ method, path, operation }) =>
          `| [${operation.summary}](#${anchorOf(operation.summary)}) | \`${method} ${path}\` |`,
      );
      const parts = own.map((each) => operationText(document, each, examples[each.operation.operationId]));
      const intro = `${description}${description === '' ? '' : '\n\n'}The [interactive reference](/docs/interactive) sends these requests from
your browser. The examples begin with:`;
      const setup = (examples.setup ?? []).join('\n\n');
      const table = `| operation | request |\n|---|---|\n${index.join('\n')}`;
      return [slugOf(name), `# ${name}\n\n${intro}\n\n${setup}\n\n${table}\n\n${parts.join('\n')}`];
    }),
  );
}

function operationText(
  document: OpenApi,
  { method, path, operation }: Stated,
  examples: readonly string[] | undefined,
): string {
  if (!examples?.length) throw new Error(`The reference has no example of ${operation.operationId}.`);
  const parameters = (operation.parameters ?? []).map((each) => resolved(document, each, 'parameters'));
  const body = operation.requestBody?.content['application/json'];
  const [success] = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const answer = success && resolved(document, success[1], 'responses');
  const shown = Object.values(answer?.content ?? {})[0];
  return [
    `## ${operation.summary}\n`,
    `\`${method} ${path}\`\n`,
    `${operation.description}\n`,
    `${examples.join('\n\n')}\n`,
    parameters.length > 0 ? `### Parameters of ${operation.operationId}\n\n${parameterTable(parameters)}\n` : '',
    body?.schema ? `### Body of ${operation.operationId}\n\n${fieldTable(document, body.schema)}\n` : '',
    shown?.schema
      ? `### Answer of ${operation.operationId}\n\nStatus ${success?.[0]}. ${answer?.description ?? ''}\n`
      : '',
    shown?.example === undefined ? '' : `${block(shown.example)}\n`,
    shown?.schema && shown.example !== undefined ? `${fieldTable(document, shown.schema)}\n` : '',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function block(example: unknown): string {
  return typeof example === 'string'
    ? `\`\`\`\n${example.trimEnd()}\n\`\`\``
    : `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``;
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description = '' }) =>
      `| \`${name}\` | ${place}${required ? ', required' : ''} | ${cell(description)} |`,
  );
  return `| name | in | |\n|---|---|---|\n${rows.join('\n')}`;
}

/** Writes a row for each field; fields of nested objects by their dotted path. */
function fieldTable(document: OpenApi, schema: Schema): string {
  const rows = fieldsOf(document, schema, '', 0);
  return rows.length === 0 ? '' : `| field | type | |\n|---|---|---|\n${rows.join('\n')}\n`;
}

/** Maximum depth of listed fields. */
const DEPTH = 3;

function fieldsOf(document: OpenApi, given: Schema, prefix: string, depth: number): string[] {
  const { properties = {}, required = [] } = objectOf(document, given);
  return Object.entries(properties).flatMap(([name, stated]) => {
    const field = resolved(document, stated, 'schemas');
    const path = `${prefix}${name}`;
    const notes = [
      required.includes(name) ? '' : 'optional',
      stated['x-extension'] || field['x-extension'] ? 'extension' : '',
    ].filter(Boolean);
    const type = [typeOf(document, field), ...notes].join(', ');
    const description = cell(stated.description ?? field.description ?? '');
    const inner = field.items ? objectOf(document, field.items) : objectOf(document, field);
    const within = depth < DEPTH ? fieldsOf(document, inner, `${path}${field.items ? '[]' : ''}.`, depth + 1) : [];
    return [`| \`${path}\` | ${cell(type)} | ${description} |`, ...within];
  });
}

function objectOf(document: OpenApi, given: Schema): Schema {
  const schema = resolved(document, given, 'schemas');
  const choices = schema.allOf ?? schema.oneOf ?? schema.anyOf;
  if (schema.properties || !choices) return schema;
  return choices.map((each) => objectOf(document, each)).find(({ properties }) => properties) ?? schema;
}

function typeOf(document: OpenApi, given: Schema): string {
  const schema = resolved(document, given, 'schemas');
  const choices = schema.oneOf ?? schema.anyOf ?? schema.allOf;
  if (schema.items) return `list of ${typeOf(document, schema.items)}`;
  if (schema.type !== undefined) return [schema.type].flat().join(' or ');
  if (choices) return [...new Set(choices.map((each) => typeOf(document, each)))].join(' or ');
  return schema.enum ? 'string' : 'object';
}

interface Stated {
  readonly method: string;
  readonly path: string;
  readonly operation: StatedOperation;
}

function operations({ paths }: OpenApi): Stated[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Follows references to the components of the document. */
function resolved<T extends { readonly $ref?: string }>(
  { components }: OpenApi,
  stated: T,
  kind: 'schemas' | 'responses' | 'parameters',
): T {
  let found = stated;
  while (found.$ref !== undefined) {
    const name = found.$ref.split('/').at(-1) ?? '';
    found = components[kind][name] as unknown as T;
  }
  return found;
}

/** Returns the anchor of a heading, in the same form as those of the page. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
