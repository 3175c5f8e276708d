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
import { type AnswerBounds, boundsOf } from './bounded-answer.ts';
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

/** An operation that is compiled, with the bounds of its answer, whatever its variables ask for. */
export interface CompiledOperation {
  readonly bounds: AnswerBounds;
  /**
   * Runs it.
   * @param root of a subscription: the event
   * @returns its data; null when anything was refused or has failed: nobody was told of it, so it can be run again to tell
   */
  run(
    context: GraphQLContext,
    variables: Readonly<Record<string, unknown>>,
    root?: unknown,
  ): Promise<{ readonly data: Record<string, unknown> } | null>;
}

/** The prepared path's queries. */
export interface CompiledQueries {
  /** The query that is asked for, if its document was found valid before and graphql-jit can compile it; else null. */
  find(request: Pick<OperationRequest, 'query' | 'operationName'>): CompiledOperation | null;
}

/** Fields of an operation that is worth compiling: it takes about as long as running it ten times, and longer the more there are. */
const MAX_FIELDS = 120;
/** Fields of all operations that are kept compiled, about 2 KB each; each may keep its document too, 300 bytes a token. */
const [KEPT_FIELDS, TOKENS_A_FIELD] = [20_000, 7];

/**
 * Compiles queries that are asked for again. Mutations are not compiled, because one that failed could not be run again. Measured: without
 * compiled queries, an invoice over `/graphql` takes 1.8 times the CPU time (service of the bench `graphql`, 32 requests at a time).
 */
export function createCompiledQueries(gate: Gate): CompiledQueries {
  const compile = createCompiler(OperationTypeNode.QUERY);
  return {
    find({ query, operationName }) {
      const document = gate.known(query);
      return document && compile(document, operationName);
    },
  };
}

/** @returns null for an operation of another type, and for one that is better not compiled */
export type Compile = (document: DocumentNode, operationName: string | null) => CompiledOperation | null;

/**
 * Compiles operations once, as long as they are used: there is room for so many fields. The bounds of the gate, which remembers documents,
 * would not do: a few tokens can spread large fragments, and a document can hold hundreds of operations.
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
    // A name that the document does not have is not remembered: there are as many as clients care to send.
    if (!operation) return null;
    const { fields, possibleFields } = sizeOf(schema, document, operation, null);
    // What may cost too much is for the gate to see, with its variables.
    const fits = operation.operation === type && fields <= MAX_FIELDS && possibleFields <= LIMITS.possibleFields;
    const run = fits ? compileOperation(document, operation) : null;
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
    bounds: boundsOf(document, operation.name?.value, null),
    async run(context, variables, root) {
      const { data, errors } = await compiled.query(root, context, variables);
      return errors || !data ? null : { data };
    },
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
