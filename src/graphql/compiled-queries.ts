import { BREAK, type DocumentNode, getOperationAST, OperationTypeNode, visit } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { GraphQLContext } from './context.ts';
import type { Gate } from './gate.ts';
import { LIMITS, sizeOf } from './limits.ts';
import { schema } from './schema.ts';

/** A request for one operation. */
export interface OperationRequest {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Runs an operation.
 * @param root of a subscription: the event
 * @returns its data; null when anything was refused or has failed: nobody was told of it, so it can be run again to tell
 */
export type CompiledOperation = (
  context: GraphQLContext,
  variables: Readonly<Record<string, unknown>>,
  root?: unknown,
) => Promise<Record<string, unknown> | null>;

/** The prepared path's queries. */
export interface CompiledQueries {
  /** The query that is asked for, if its document was found valid before and graphql-jit can compile it; else null. */
  find(request: Pick<OperationRequest, 'query' | 'operationName'>): CompiledOperation | null;
}

/** Fields of a query that is worth compiling: it takes about as long as running it ten times, and longer the more there are. */
const MAX_FIELDS = 120;

/** Fields of all compiled queries together, about 2 KB each, texts counted as fields. */
const [REMEMBERED_FIELDS, CHARACTERS_A_FIELD] = [20_000, 1000];

/** Compiles what is asked for again. Only queries: a mutation that failed could not be run again. */
export function createCompiledQueries(gate: Gate): CompiledQueries {
  const compiled = new LRUCache<string, { readonly run: CompiledOperation | null }>({
    max: 1000,
    maxSize: REMEMBERED_FIELDS,
  });
  return {
    find({ query, operationName }) {
      const document = gate.known(query);
      if (!document) return null;
      const key = `${operationName ?? ''}\n${query}`;
      const known = compiled.get(key);
      if (known) return known.run;
      const operation = getOperationAST(document, operationName);
      // Names that the document does not have are not remembered: there are as many as clients care to send.
      if (!operation) return null;
      const run = compileOperation(document, operationName, OperationTypeNode.QUERY);
      const fields = run ? sizeOf(schema, document, operation, null).fields : 0;
      compiled.set(key, { run }, { size: 1 + fields + Math.ceil(query.length / CHARACTERS_A_FIELD) });
      return run;
    },
  };
}

/** @returns null for an operation of another type, and for one that is better not compiled */
export function compileOperation(
  document: DocumentNode,
  operationName: string | null,
  type: OperationTypeNode,
): CompiledOperation | null {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== type) return null;
  const { fields, cost } = sizeOf(schema, document, operation, null);
  // What may cost too much is for the gate to see, with its variables.
  if (fields > MAX_FIELDS || cost > LIMITS.cost || hasDirectives(document)) return null;
  const compiled = compileQuery(schema, document, operation.name?.value ?? '', { disablingCapturingStackErrors: true });
  if (!isCompiledQuery(compiled)) return null;
  return async (context, variables, root) => {
    const { data, errors } = await compiled.query(root, context, variables);
    return errors ? null : (data ?? null);
  };
}

/** graphql-jit answers a field that is asked for twice, once under `@skip`, in another place than graphql-js. */
function hasDirectives(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Directive() {
      found = true;
      return BREAK;
    },
  });
  return found;
}
