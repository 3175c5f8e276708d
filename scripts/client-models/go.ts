import {
  capitalized,
  isNullable,
  namedValues,
  nameOf,
  requestSchemas,
  type Schema,
  type Schemas,
  sorted,
  wordsOf,
  wrapped,
} from './schema.ts';

const WIDTH = 116;
/** Words that Go writes in capitals. */
const INITIALISMS = new Set(['dgi', 'ice', 'id', 'pdf', 'url', 'xml']);

/** A column of gofmt's: a name, a type and a tag or value. */
type Row = readonly [string, string, string];

/** Returns a file of Go, as gofmt leaves it, with a type for each schema, in the order of their names. */
export function goModels(schemas: Schemas): string {
  const requests = requestSchemas(schemas);
  const types = sorted(schemas).map(([name, schema]) => {
    const declared = schema.properties ? struct(name, schema, schemas, requests.has(name)) : named(name, schema);
    return `${comment(schema.description, '')}${declared}`;
  });
  const head =
    '// Code generated from openapi.json by `npm run build`. DO NOT EDIT.\n\npackage fatoura\n\nimport "time"\n\n';
  return `${head}${types.join('\n')}`;
}

/** Writes a type of its own for a list of values, each a constant; for texts and times another name. */
function named(name: string, schema: Schema): string {
  const values = schema.enum ?? schema['x-extensible-enum'];
  const type = pascal(name);
  if (!values) return `type ${type} = ${name === 'Timestamp' ? 'time.Time' : 'string'}\n`;
  const rows = values.map((value): Row => [`${type}${pascal(String(value))}`, type, `= ${JSON.stringify(value)}`]);
  const base = schema.type === 'integer' ? 'int64' : 'string';
  return `type ${type} ${base}\n\n// Values of ${type}. A newer service may have more.\nconst (\n${aligned(rows)})\n`;
}

function struct(name: string, schema: Schema, schemas: Schemas, isRequest: boolean): string {
  const members = Object.entries(schema.properties ?? {}).map(([member, each]) => {
    const isOptional = !schema.required?.includes(member);
    const type = member.endsWith('secret') ? 'Secret' : typeOf(each, schemas);
    const row: Row = isRequest
      ? requestMember(member, type, isOptional, isNullable(each) && name.startsWith('Update'))
      : [pascal(member), isOptional || isNullable(each) ? pointer(type) : type, `\`json:"${member}"\``];
    return { text: comment(each.description, '\t'), row };
  });
  // gofmt aligns members until the next comment.
  const runs: { text: string; rows: Row[] }[] = [];
  for (const { text, row } of members) {
    const run = runs.at(-1);
    if (text === '' && run) run.rows.push(row);
    else runs.push({ text, rows: [row] });
  }
  return `type ${pascal(name)} struct {\n${runs.map(({ text, rows }) => text + aligned(rows)).join('')}}\n`;
}

/**
 * Writes a member of a request, which is left out if it has its zero value. If zero has a meaning, the member is a
 * pointer.
 */
function requestMember(member: string, type: string, isOptional: boolean, isRemovable: boolean): Row {
  if (!isOptional) return [pascal(member), type, `\`json:"${member}"\``];
  if (isRemovable) return [pascal(member), `Nullable[${type}]`, `\`json:"${member},omitzero"\``];
  const isText = type === 'string' || type === 'PaymentMeans';
  return [pascal(member), isText ? type : pointer(type), `\`json:"${member},omitempty"\``];
}

function pointer(type: string): string {
  return type.startsWith('[]') || type.startsWith('map[') ? type : `*${type}`;
}

function typeOf(schema: Schema, schemas: Schemas): string {
  const { $ref, items, additionalProperties } = schema;
  if ($ref) return pascal(nameOf($ref));
  const values = namedValues(schema, schemas);
  if (values) return values;
  const types = [schema.type ?? 'string'].flat();
  if (types.includes('integer')) return 'int64';
  if (types.includes('boolean')) return 'bool';
  if (types.includes('array')) return `[]${items ? typeOf(items, schemas) : 'any'}`;
  if (!types.includes('object')) return 'string';
  return `map[string]${typeof additionalProperties === 'object' ? typeOf(additionalProperties, schemas) : 'any'}`;
}

/** `xml_url` → `XMLURL`, `InvoiceId` → `InvoiceID`, `invoice.signing` → `InvoiceSigning`. */
function pascal(name: string): string {
  const words = wordsOf(name);
  return words.map((word) => (INITIALISMS.has(word.toLowerCase()) ? word.toUpperCase() : capitalized(word))).join('');
}

/** Rows of tabs and columns, which gofmt pads with spaces. */
function aligned(rows: readonly Row[]): string {
  const [first, second] = [0, 1].map((column) => Math.max(...rows.map((row) => row[column as 0 | 1].length)));
  return rows.map(([a, b, c]) => `\t${a.padEnd(first ?? 0)} ${b.padEnd(second ?? 0)} ${c}\n`).join('');
}

/** Writes a comment with the description; lists of Markdown keep their lines. */
function comment(description: string | undefined, indent: string): string {
  if (description === undefined) return '';
  const lines = description.split('\n').flatMap((line) => wrapped(line, WIDTH - indent.length));
  return lines.map((line) => `${indent}//${line === '' ? '' : ` ${line}`}\n`).join('');
}
