import type { initGraphQLTada } from 'gql.tada';
import type { introspection } from './schema-types.d.ts';

/** The scalars of the schema, as represented in JSON. */
interface Scalars {
  /** Centimes: an integer within ±(2^53 - 1). */
  Centimes: number;
  /** A sum of centimes, as a text of digits. */
  CentimesSum: string;
  /** An instant, ISO 8601 in UTC. */
  DateTime: string;
  /** An object with members of any kind. */
  DraftContent: Readonly<Record<string, unknown>>;
  ID: string;
  Metadata: Readonly<Record<string, string>>;
  SafeInt: number;
  Decimal: number;
}

type TypedDocuments = ReturnType<typeof initGraphQLTada<{ introspection: introspection; scalars: Scalars }>>;

/**
 * Types the result and the variables of a document by the schema (schema.graphql), at compile time. At run time the
 * document stays a text, which urql parses.
 */
export const graphql = ((text: string) => text) as unknown as TypedDocuments;
