import { BREAK, type DocumentNode, getOperationAST, OperationTypeNode, visit } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
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

/**
 * Compiles what is asked for again. A compiled query is forgotten with its document, so the gate's bounds are these queries' too.
 * Only queries: a mutation that failed could not be run again.
 */
export function createCompiledQueries(gate: Gate): CompiledQueries {
  const compiled = new WeakMap<DocumentNode, Map<string | null, CompiledOperation | null>>();
  return {
    find({ query, operationName }) {
      const document = gate.known(query);
      if (!document) return null;
      const operations = compiled.get(document) ?? new Map<string | null, CompiledOperation | null>();
      compiled.set(document, operations);
      const known = operations.get(operationName);
      if (known !== undefined) return known;
      const found = compileOperation(document, operationName, OperationTypeNode.QUERY);
      // A name that the document does not have is not remembered: there are as many as clients care to send.
      if (getOperationAST(document, operationName)) operations.set(operationName, found);
      return found;
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
