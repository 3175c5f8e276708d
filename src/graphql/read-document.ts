import { type DocumentNode, type GraphQLError, parse, specifiedRules, validate } from 'graphql';
import { LRUCache } from 'lru-cache';
import { documentLimits } from './document-limits.ts';
import { schema } from './schema.ts';

/** Valid documents, so that thousands of clients that send the same one share it; their characters in all are bounded. */
const known = new LRUCache<string, DocumentNode>({
  max: 1000,
  maxSize: 4_000_000,
  sizeCalculation: (_document, source) => source.length + 1,
});

/** @throws {GraphQLError} where it can not be parsed @returns what is wrong with it, or the document */
export function readDocument(source: string): { document: DocumentNode } | { errors: readonly GraphQLError[] } {
  const remembered = known.get(source);
  if (remembered) return { document: remembered };
  const document = parse(source);
  const errors = validate(schema, document, [...specifiedRules, documentLimits]);
  if (errors.length > 0) return { errors };
  known.set(source, document);
  return { document };
}
