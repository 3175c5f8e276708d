import { GraphQLError, Kind, type ValueNode } from 'graphql';
import { builder } from '../builder.ts';

/** ISO 8601 in UTC and whole seconds, `2026-01-31T12:00:00Z` (specification, "Conventions"). */
export function timestampOf(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`;
}

function parseInstant(value: unknown): Date {
  const instant =
    typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:?\d{2})$/.test(value) ? new Date(value) : null;
  if (!instant || Number.isNaN(instant.getTime())) {
    throw new GraphQLError('must be an ISO 8601 instant with a time zone, such as "2026-01-31T12:00:00Z"');
  }
  return instant;
}

builder.scalarType('DateTime', {
  description: 'An instant in ISO 8601, UTC, whole seconds: `2026-01-31T12:00:00Z`.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  serialize: (instant) => timestampOf(instant as Date),
  parseValue: parseInstant,
});

function parseCentimes(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new GraphQLError('must be an integer of centimes within ±(2^53 - 1)');
  return value as number;
}

builder.scalarType('Centimes', {
  description:
    'An amount in centimes (1/100 MAD): an integer within ±(2^53 - 1), so beyond `Int`. 12000 means 120.00 MAD.',
  serialize: parseCentimes,
  parseValue: parseCentimes,
  parseLiteral: (node: ValueNode) => parseCentimes(node.kind === Kind.INT ? Number(node.value) : null),
});

function parseMetadata(value: unknown): Record<string, string> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new GraphQLError('must be an object of string values');
  }
  return value as Record<string, string>;
}

builder.scalarType('Metadata', {
  description:
    'Free key/value data: a JSON object of string values, at most 50 keys of 40 characters with values of 500.',
  serialize: (value) => value,
  parseValue: parseMetadata,
  parseLiteral: (node, variables) => parseMetadata(literalOf(node, variables ?? {})),
});

function literalOf(node: ValueNode, variables: Record<string, unknown>): unknown {
  if (node.kind === Kind.VARIABLE) return variables[node.name.value];
  if (node.kind === Kind.STRING) return node.value;
  if (node.kind === Kind.OBJECT) {
    return Object.fromEntries(node.fields.map((field) => [field.name.value, literalOf(field.value, variables)]));
  }
  return null;
}
