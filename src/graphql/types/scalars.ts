import { GraphQLError, Kind, type ValueNode } from 'graphql';
import { LIMITS } from '../../domain/invoice/field-input.ts';
import { INSTANT, parseInstant } from '../../domain/invoice/list-invoices-input.ts';
import { timestampOf } from '../../domain/timestamp.ts';
import { builder } from '../builder.ts';

function instantOf(value: unknown, nodes?: ValueNode): Date {
  const instant = typeof value === 'string' ? parseInstant(value) : null;
  if (!instant) throw new GraphQLError(`must be ${INSTANT}`, { nodes: nodes ?? null });
  return instant;
}

builder.scalarType('DateTime', {
  description:
    'An instant in ISO 8601, returned in UTC and whole seconds: `2026-01-31T12:00:00Z`. Inputs may have another offset (`+01`, `+01:00`), or be a date (`2026-01-31`), which means its start in UTC.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  serialize: (instant) => timestampOf(instant as Date),
  parseValue: (value) => instantOf(value),
  parseLiteral: (node) => instantOf(node.kind === Kind.STRING ? node.value : null, node),
});

/** Makes an integer scalar. @param least the minimum; lower where an input's own rule is to refuse smaller values */
function safeInteger(what: string, least: number) {
  const parse = (value: unknown, nodes?: ValueNode): number => {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= Number.MAX_SAFE_INTEGER)
      return value as number;
    throw new GraphQLError(`must be ${what} within ±(2^53 - 1)`, { nodes: nodes ?? null });
  };
  return {
    serialize: (value: unknown) => parse(value),
    parseValue: (value: unknown) => parse(value),
    parseLiteral: (node: ValueNode) => parse(node.kind === Kind.INT ? Number(node.value) : null, node),
  };
}

builder.scalarType('Centimes', {
  description:
    'An amount in centimes (1/100 MAD): an integer within ±(2^53 - 1), a larger range than `Int`. 12000 means 120.00 MAD.',
  // The input rule refuses an amount below its minimum, with a message that names it. No output has such an amount.
  ...safeInteger('an integer of centimes', Number.NEGATIVE_INFINITY),
});

builder.scalarType('CentimesSum', {
  description:
    'A sum of amounts in centimes (1/100 MAD), as a text of digits, because it may be beyond ±(2^53 - 1): "12000" means 120.00 MAD.',
  serialize: (value) => value.toString(),
  // No input has this type.
  parseValue: (value) => BigInt(String(value)),
});

builder.scalarType('SafeInt', {
  description: 'An integer within ±(2^53 - 1), a larger range than `Int`.',
  ...safeInteger('an integer', Number.MIN_SAFE_INTEGER),
});

function parseDecimal(value: unknown, nodes?: ValueNode): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new GraphQLError('must be a decimal number', { nodes: nodes ?? null });
}

builder.scalarType('Decimal', {
  description: 'A decimal number such as 1.5, exact as it is written. Each field says how many decimals it may have.',
  serialize: (value) => parseDecimal(value),
  parseValue: (value) => parseDecimal(value),
  parseLiteral: (node) =>
    parseDecimal(node.kind === Kind.INT || node.kind === Kind.FLOAT ? Number(node.value) : null, node),
});

function parseMetadata(value: unknown, nodes?: ValueNode): Record<string, string> {
  // PHP writes an empty array for an object without members; REST accepts it, too.
  if (Array.isArray(value) && value.length === 0) return {};
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new GraphQLError('must be an object of string values', { nodes: nodes ?? null });
  }
  return value as Record<string, string>;
}

/**
 * Returns a client's object as an executor can handle it: one with a member `then` would be taken for a promise. It is
 * written to the answer as the object itself.
 */
export function notThenable(value: object): object {
  return Object.hasOwn(value, 'then') ? { toJSON: () => value } : value;
}

builder.scalarType('Metadata', {
  description: `Free key/value data: a JSON object of string values, at most ${LIMITS.metadataKeys} keys of up to ${LIMITS.metadataKey} characters, with values of up to ${LIMITS.metadataValue} characters.`,
  serialize: (value) => value,
  parseValue: (value) => parseMetadata(value),
  parseLiteral: (node, variables) => parseMetadata(literalOf(node, variables ?? {}), node),
});

function literalOf(node: ValueNode, variables: Record<string, unknown>): unknown {
  if (node.kind === Kind.VARIABLE) return variables[node.name.value];
  if (node.kind === Kind.STRING) return node.value;
  if (node.kind === Kind.OBJECT) {
    return Object.fromEntries(node.fields.map((field) => [field.name.value, literalOf(field.value, variables)]));
  }
  if (node.kind === Kind.LIST && node.values.length === 0) return [];
  return null;
}
