import { nameOf, type Schema, type Schemas, sorted, typesOf, wrapped } from './schema.ts';

const WIDTH = 116;
const HEAD = `"""Made from openapi.json by \`npm run build\`. Amounts are integers in centimes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Literal

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict
`;
/** A name for each type, which may stand before the type that it names. */
const TYPES: Readonly<Record<string, string>> = { string: 'str', integer: 'int', boolean: 'bool', null: 'None' };

/** Returns a module with a `TypedDict` for each schema of an object, and a name for each other one before them. */
export function pythonModels(schemas: Schemas): string {
  const all = sorted(schemas);
  const names = all.filter(([, { properties }]) => !properties).map(([name, schema]) => alias(name, schema));
  const classes = all.filter(([, { properties }]) => properties).map(([name, schema]) => typedDict(name, schema));
  return [HEAD, names.join('\n'), ...classes].join('\n');
}

function alias(name: string, schema: Schema): string {
  return `${broken(`${name} = ${typeOf(schema)}`)}\n${docstring(schema.description, '')}`;
}

function typedDict(name: string, schema: Schema): string {
  const members = Object.entries(schema.properties ?? {}).map(([member, each]) => {
    const type = schema.required?.includes(member) ? typeOf(each) : `NotRequired[${typeOf(each)}]`;
    return `    ${member}: ${type}\n${docstring(each.description, '    ')}`;
  });
  const head = schema.description === undefined ? '' : `${docstring(schema.description, '    ')}\n`;
  return `\nclass ${name}(TypedDict):\n${head}${members.join('')}`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
  // A newer service may have further values. The members stay known to editors.
  const open = schema['x-extensible-enum'];
  if (open) return `Literal[${open.map(literal).join(', ')}] | str`;
  return typesOf(schema)
    .map((type) => single(type, schema))
    .join(' | ');
}

function single(type: string | undefined, { items, additionalProperties }: Schema): string {
  if (type === 'array') return `Sequence[${items ? typeOf(items) : 'object'}]`;
  if (type === 'object')
    return `Mapping[str, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'object'}]`;
  return TYPES[type ?? ''] ?? 'object';
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : value === true ? 'True' : value === false ? 'False' : String(value);
}

/** Puts each value of a long list on a line of its own. */
function broken(line: string): string {
  if (line.length <= WIDTH) return line;
  return line.replace(
    /Literal\[(.*)\]/,
    (_, values: string) => `Literal[\n    ${values.replaceAll(', ', ',\n    ')},\n]`,
  );
}

/** Writes a text below the element that it describes, where editors read it; lists of Markdown keep their lines. */
function docstring(description: string | undefined, indent: string): string {
  if (description === undefined) return '';
  const lines = description.split('\n').flatMap((line) => wrapped(line, WIDTH - indent.length));
  const text = lines.map((line, nth) => (nth === 0 || line === '' ? line : `${indent}${line}`)).join('\n');
  return `${indent}"""${text}${lines.length > 1 ? `\n${indent}` : ''}"""\n`;
}
