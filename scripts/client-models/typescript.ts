import { nameOf, type Schema, type Schemas, sorted, typesOf, wrapped } from './schema.ts';

const WIDTH = 116;

/** Returns a module with a type for each schema, in the order of their names. */
export function typescriptModels(schemas: Schemas): string {
  const types = sorted(schemas).map(
    ([name, schema]) => `${comment(schema.description, '')}${declaration(name, schema)}`,
  );
  return `// Made from openapi.json by \`npm run build\`. Amounts are integers in centimes.\n\n${types.join('\n')}`;
}

function declaration(name: string, schema: Schema): string {
  if (!schema.properties) return `export type ${name} = ${typeOf(schema)};\n`;
  const members = Object.entries(schema.properties).map(([member, each]) => {
    const mark = schema.required?.includes(member) ? '' : '?';
    // A caller may pass on a member that it does not have.
    const absent = mark === '' ? '' : ' | undefined';
    return `${comment(each.description, '  ')}  readonly ${member}${mark}: ${typeOf(each)}${absent};\n`;
  });
  return `export interface ${name} {\n${members.join('')}}\n`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  // A newer service may have further values. The members stay known to editors.
  const open = schema['x-extensible-enum'];
  if (open) return [...open.map(literal), '(string & {})'].join(' | ');
  return typesOf(schema)
    .map((type) => single(type, schema))
    .join(' | ');
}

function single(type: string | undefined, { items, additionalProperties }: Schema): string {
  if (type === 'integer') return 'number';
  if (type === 'array') return `readonly ${array(items)}[]`;
  if (type === 'object') {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  return type ?? 'unknown';
}

function array(items: Schema | undefined): string {
  const type = items ? typeOf(items) : 'unknown';
  return type.includes(' ') ? `(${type})` : type;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Writes a comment with the description; lists of Markdown keep their lines. */
export function comment(description: string | undefined, indent: string): string {
  if (description === undefined) return '';
  const lines = description.split('\n').flatMap((line) => wrapped(line, WIDTH - indent.length));
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */\n`].join('\n');
}
