import { nameOf, type Schema, type Schemas, sorted, typesOf, wrapped } from './schema.ts';

const WIDTH = 112;
/** Types of PHP's and of PHPStan's. */
const TYPES: Readonly<Record<string, string>> = { string: 'string', integer: 'int', boolean: 'bool', null: 'null' };

/**
 * Returns a class whose comment has a type for each schema, in the order of their names: documents are arrays, and
 * static analysis and editors know their shapes.
 */
export function phpModels(schemas: Schemas): string {
  const types = sorted(withCreation(schemas)).map(
    ([name, schema]) => `${text(schema.description)} * @phpstan-type ${name} ${declared(schema)}\n`,
  );
  return `<?php

declare(strict_types=1);

namespace Fatoura;

/**
 * The documents of the service. Made from openapi.json by \`npm run build\`. Amounts are integers in centimes.
 *
 * Import one with \`@phpstan-import-type Invoice from \\Fatoura\\Models\`.
 *
${types.join(' *\n')} */
final class Models
{
}
`;
}

/**
 * Writes the shape of a creation's answer together with that of its headers, because analysers do not join two shapes.
 */
function withCreation(schemas: Schemas): Schemas {
  const { CreatedInvoice: made } = schemas;
  if (!made) throw new Error('the document has no CreatedInvoice');
  const Creation: Schema = {
    ...made,
    description: 'A created invoice. `replayed`: an earlier request with the same key had created it.',
    properties: { ...made.properties, replayed: { type: 'boolean' } },
    required: [...(made.required ?? []), 'replayed'],
  };
  return { ...schemas, Creation };
}

function declared(schema: Schema): string {
  if (!schema.properties) return typeOf(schema);
  const members = Object.entries(schema.properties).map(([member, each]) => {
    const mark = schema.required?.includes(member) ? '' : '?';
    return ` *     ${member}${mark}: ${typeOf(each)},\n`;
  });
  return `array{\n${members.join('')} * }`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join('|');
  // A newer service may have further values. The members stay known to editors.
  const open = schema['x-extensible-enum'];
  if (open) return [...open.map(literal), 'string'].join('|');
  return typesOf(schema)
    .map((type) => single(type, schema))
    .join('|');
}

function single(type: string | undefined, { items, additionalProperties }: Schema): string {
  if (type === 'array') return `list<${items ? typeOf(items) : 'mixed'}>`;
  if (type === 'object')
    return `array<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'mixed'}>`;
  return TYPES[type ?? ''] ?? 'mixed';
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Writes the description of a type; lists of Markdown keep their lines. */
function text(description: string | undefined): string {
  if (description === undefined) return '';
  const lines = description.split('\n').flatMap((line) => wrapped(line, WIDTH));
  return lines.map((line) => (line === '' ? ' *\n' : ` * ${line}\n`)).join('');
}
