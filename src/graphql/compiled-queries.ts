import {
  BREAK,
  type DocumentNode,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { GraphQLContext } from './context.ts';
import type { Gate } from './gate.ts';
import { LIMITS, selectedBy } from './limits.ts';
import { schema } from './schema.ts';
import { variableErrors } from './variable-faults.ts';

/** A request for one operation. */
export interface OperationRequest {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A compiled operation. */
export interface CompiledOperation {
  readonly name: string | null;
  /**
   * Runs the operation.
   * @param root the event, for a subscription
   * @returns the data; null after any error, which is not reported: the caller runs the operation again to report it
   */
  run(
    context: GraphQLContext,
    variables: Readonly<Record<string, unknown>>,
    root?: unknown,
  ): Promise<{ readonly data: Record<string, unknown> } | null>;
}

/** Limits for checking variables that only report whether there is a fault. */
const ONE_FAULT = { ...LIMITS, errors: 1 };
/** Maximum number of fields of a compiled operation. Compiling costs about as much as ten executions, or more. */
const MAX_FIELDS = 120;
/**
 * Capacity of the cache in fields of about 2 KB, and how many tokens of a document (300 bytes each) count as one field.
 */
const [KEPT_FIELDS, TOKENS_A_FIELD] = [20_000, 7];

/**
 * Creates the cache of compiled queries for the prepared path. Queries that are requested again are compiled, but not
 * mutations, because a failed mutation could not be run again to report its error.
 * Measured: without compiled queries, an invoice over `/graphql` takes 1.8 times the CPU time (service of the bench
 * `graphql`, 32 concurrent requests).
 */
export function createCompiledQueries(gate: Gate) {
  const compile = createCompiler(OperationTypeNode.QUERY);
  return {
    /**
     * Returns the requested query. Null if its document has not passed validation before or cannot be compiled, or if
     * the gate would refuse the variables, because graphql-jit would report any number of their faults.
     */
    find({ query, operationName, variables }: OperationRequest): CompiledOperation | null {
      const document = gate.known(query);
      const compiled = document && compile(document, operationName);
      const operation = compiled && getOperationAST(document, operationName);
      return operation && variableErrors(schema, document, operation, variables, ONE_FAULT).length === 0
        ? compiled
        : null;
    },
  };
}

/** Compiles an operation. @returns null if it has another type, is too large or cannot be compiled */
export type Compile = (document: DocumentNode, operationName: string | null) => CompiledOperation | null;

/**
 * Creates a function that compiles each operation once and keeps it in an LRU cache, whose size is counted in fields.
 * Counting documents would not bound the memory: a few tokens can spread large fragments, and a document can hold
 * hundreds of operations.
 */
export function createCompiler(type: OperationTypeNode): Compile {
  const numbers = new WeakMap<DocumentNode, number>();
  let documents = 0;
  const compiled = new LRUCache<string, { readonly run: CompiledOperation | null }>({
    max: 5000,
    maxSize: KEPT_FIELDS,
  });
  return (document, operationName) => {
    const number = numbers.get(document) ?? ++documents;
    numbers.set(document, number);
    const key = operationName === null ? `${number}` : `${number} ${operationName}`;
    const known = compiled.get(key);
    if (known) return known.run;
    const operation = getOperationAST(document, operationName);
    // An unknown operation name is not cached, because a client could send any number of them.
    if (!operation) return null;
    const { fields } = selectedBy(document, operation);
    const run = operation.operation === type && fields <= MAX_FIELDS ? compileOperation(document, operation) : null;
    const size = run ? fields + Math.ceil((document.tokenCount ?? LIMITS.tokens) / TOKENS_A_FIELD) : 1;
    compiled.set(key, { run }, { size });
    return run;
  };
}

function compileOperation(document: DocumentNode, operation: OperationDefinitionNode): CompiledOperation | null {
  if (hasDirectives(document)) return null;
  const compiled = compileQuery(schema, document, operation.name?.value ?? '', { disablingCapturingStackErrors: true });
  if (!isCompiledQuery(compiled)) return null;
  return {
    name: operation.name?.value ?? null,
    async run(context, variables, root) {
      const { data, errors } = await compiled.query(root, context, variables);
      return errors || !data ? null : { data };
    },
  };
}

/**
 * Whether a document has directives. If a field is selected twice, once under `@skip`, graphql-jit orders the answer's
 * members differently from graphql-js.
 */
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
