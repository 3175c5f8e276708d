import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../domain/principal.ts';
import { charactersOf } from './answer-text.ts';
import { exceededLimits, LIMITS, requestsOf } from './limits.ts';
import { exceededAnswers } from './mutation-answers.ts';
import { forbiddenOperation } from './root-scopes.ts';
import { schema } from './schema.ts';
import { declaredVariables, variableErrors } from './variable-faults.ts';

export interface GateSettings {
  /** Whether clients may query the schema. If not, error messages do not reveal the schema's names either. */
  readonly introspection: boolean;
  /** The listed operations: text by SHA-256 of the text. Default: none. */
  readonly operations?: ReadonlyMap<string, string> | null;
  /** Whether only listed operations may run. */
  readonly operationsOnly?: boolean;
}

/** Checks a client's document before any of it runs. All GraphQL transports share one gate. */
export interface Gate {
  /** Returns the text of the listed operation with this SHA-256; null if there is none. */
  listed(sha256: string): string | null;
  /** Estimates the work of parsing and validating a document, in units of `takeTurn`. 0 if it is known, or too long. */
  workOf(source: string): number;
  /** @throws {GraphQLError} for a syntax error, a document that is too long, or one that must be listed and is not */
  parse(source: string): DocumentNode;
  /** Checks the limits first, then the validation rules of GraphQL, then the answers of mutations. */
  validate(document: DocumentNode): readonly GraphQLError[];
  /**
   * Returns why a valid operation must not run with these variables: they do not match their types, or the variables of
   * a subscription are too long. If the list is empty, the libraries will find no fault in the variables, which they
   * would quote at length.
   */
  refuse(args: Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>): readonly GraphQLError[];
  /**
   * Returns the error of a valid operation of which the caller may run no part; null if the caller may run some part.
   * Must be called before {@link refuse}, which reads the variables.
   */
  forbidden(args: Pick<ExecutionArgs, 'document' | 'operationName'>, principal: Principal): GraphQLError | null;
  /** Returns how many requests an operation counts for the rate limit. */
  requests(document: DocumentNode, operationName: string | null | undefined): number;
  /** Shortens the message of an error, and removes suggestions of the schema's names if introspection is disabled. */
  redacted(error: GraphQLError): GraphQLError;
  /** Returns the document with exactly this text if it passed validation before and is still cached. */
  known(source: string): DocumentNode | null;
  /**
   * Keeps a valid document available while it is in use, even if the cache evicts it.
   * @returns a function that ends this
   */
  keep(document: DocumentNode): () => void;
}

/**
 * Estimated work of a document for each character, in units of `takeTurn`. Validation compares selections in pairs: for
 * as many selections as 4,400 characters can contain it takes 17 ms.
 */
const UNITS_A_CHARACTER = 4;

/**
 * Estimated memory of a document in bytes, for each token and for each character of its text. A character beyond ISO
 * 8859-1 makes each take 2 bytes, and V8 keeps names and block strings twice.
 */
const [BYTES_A_TOKEN, BYTES_A_CHARACTER] = [400, 4];

/** Estimates the memory of a document in bytes, including its text. */
export function documentBytes({ loc, tokenCount = LIMITS.tokens }: DocumentNode): number {
  return tokenCount * BYTES_A_TOKEN + (loc?.source.body.length ?? 0) * BYTES_A_CHARACTER;
}

/**
 * Capacity of the cache of documents in tokens, and characters per token. A compiled document takes four times as much.
 * With the cache, the service answers 3,500 to 3,600 queries per second, without it 834 (bench `graphql`).
 */
const [REMEMBERED_TOKENS, CHARACTERS_A_TOKEN] = [60_000, 100];

/** The prefix of the suggestion at the end of a graphql-js message. */
const SUGGESTION = 'Did you mean ';
/**
 * Number of characters kept at each end of a long message. It states the fault before or after the value that it
 * quotes.
 */
const KEPT = 500;

export function createGate({ introspection, operations, operationsOnly = false }: GateSettings): Gate {
  const mayRun = operationsOnly ? new Set(operations?.values()) : null;
  const rules = [...specifiedRules, responseNames, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
  const valid = new LRUCache<string, DocumentNode>({ max: 1000, maxSize: REMEMBERED_TOKENS });
  const kept = new Map<string, DocumentNode>();
  const known = (source: string): DocumentNode | null => valid.get(source) ?? kept.get(source) ?? null;
  return {
    listed: (sha256) => operations?.get(sha256) ?? null,
    workOf: (source) => (known(source) || source.length > LIMITS.characters ? 0 : source.length * UNITS_A_CHARACTER),
    parse(source) {
      const remembered = known(source);
      if (remembered) return remembered;
      if (source.length > LIMITS.characters) {
        throw new GraphQLError(
          `A document may have at most ${LIMITS.characters.toLocaleString('en')} characters. Send values as variables.`,
        );
      }
      if (mayRun && !mayRun.has(source))
        throw new GraphQLError('Only listed operations may run, and this operation is not listed.');
      try {
        return parse(source, { maxTokens: LIMITS.tokens });
      } catch (error) {
        throw refusalOfDepth(error);
      }
    },
    validate(document) {
      const source = document.loc?.source.body ?? '';
      if (known(source)) return [];
      const errors = errorsOf(document, rules);
      if (errors.length === 0) {
        valid.set(source, document, {
          size: (document.tokenCount ?? LIMITS.tokens) + Math.ceil(source.length / CHARACTERS_A_TOKEN),
        });
      }
      return errors;
    },
    refuse({ document, operationName, variableValues }) {
      const operation = getOperationAST(document, operationName);
      if (!operation) return [];
      const invalid = variableErrors(schema, document, operation, variableValues ?? {}, LIMITS);
      if (invalid.length > 0) return invalid;
      const long = longVariables(operation, variableValues ?? {});
      return long ? [long] : [];
    },
    forbidden: ({ document, operationName }, principal) =>
      forbiddenOperation(schema, document, operationName, principal),
    requests: (document, operationName) => requestsOf(document, getOperationAST(document, operationName)),
    redacted(error) {
      const message = shortened(introspection ? error.message : withoutSuggestion(error.message));
      if (message === error.message) return error;
      const { nodes, source, positions, path, originalError, extensions } = error;
      const location = {
        nodes: nodes ?? null,
        source: source ?? null,
        positions: positions ?? null,
        path: path ?? null,
      };
      return new GraphQLError(message, {
        ...location,
        originalError: originalError ?? null,
        extensions,
      });
    },
    known,
    keep(document) {
      const source = document.loc?.source.body ?? '';
      kept.set(source, document);
      return () => {
        if (kept.get(source) === document) kept.delete(source);
      };
    },
  };
}

/** Refuses long variables of a subscription, which are kept as long as it runs. An id or a cursor is short. */
function longVariables(operation: OperationDefinitionNode, variables: Record<string, unknown>): GraphQLError | null {
  if (operation.operation !== OperationTypeNode.SUBSCRIPTION) return null;
  const most = LIMITS.subscriptionVariables;
  if (charactersOf(declaredVariables(operation, variables)) <= most) return null;
  return new GraphQLError(
    `The variables of a subscription may have at most ${most.toLocaleString('en')} characters in all.`,
  );
}

/** Returns the errors of the first check that finds any. */
function errorsOf(document: DocumentNode, rules: readonly ValidationRule[]): readonly GraphQLError[] {
  try {
    const exceeded = exceededLimits(document);
    if (exceeded.length > 0) return exceeded;
    const invalid = validate(schema, document, rules, { maxErrors: LIMITS.errors });
    return invalid.length > 0 ? invalid : exceededAnswers(document);
  } catch (error) {
    return [refusalOfDepth(error)];
  }
}

/**
 * Converts an overflow of the call stack to the refusal of a document: the parser and the validation rules recurse.
 * Which depth overflows depends on what the JIT compiler has optimized, so an overflow is an error of the document.
 * @throws any other error
 */
function refusalOfDepth(error: unknown): GraphQLError {
  if (error instanceof RangeError) return new GraphQLError('The document is nested too deep.');
  throw error;
}

/**
 * Refuses response names that break a JavaScript object: `__proto__` is lost, and `then` makes it look like a promise.
 */
function responseNames(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      const { value } = node.alias ?? node.name;
      if (value !== '__proto__' && value !== 'then') return;
      context.reportError(
        new GraphQLError(`The response name "${value}" is reserved. Use another alias.`, { nodes: node }),
      );
    },
  };
}

function withoutSuggestion(message: string): string {
  const start = message.endsWith('?') ? message.lastIndexOf(SUGGESTION) : -1;
  return start < 0 ? message : message.slice(0, start).trimEnd();
}

function shortened(message: string): string {
  if (message.length <= 2 * KEPT) return message;
  return `${message.slice(0, KEPT)} … ${message.slice(-KEPT)}`.toWellFormed();
}
