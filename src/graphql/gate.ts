import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  type ValidationContext,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { exceededCost, exceededLimits, LIMITS, requestsOf } from './limits.ts';
import { schema } from './schema.ts';

export interface GateSettings {
  /** Whether clients may ask for the schema; where not, no error's text tells of it either. */
  readonly introspection: boolean;
  /** The text of each listed operation by its SHA-256; none unless given. */
  readonly operations?: ReadonlyMap<string, string> | null;
  /** Whether only listed operations may run. */
  readonly operationsOnly?: boolean;
}

/** What a document from outside passes before anything of it is run; shared by all ways in. */
export interface Gate {
  /** The text of the listed operation with this SHA-256. */
  listed(sha256: string): string | null;
  /** @throws {GraphQLError} for a syntax error, a document that is too long, and one that is not listed where only those may run */
  parse(source: string): DocumentNode;
  /** The limits first, then the rules of GraphQL. */
  validate(document: DocumentNode): readonly GraphQLError[];
  /** Whether a valid operation would answer too much with these variables: why it must not run, or null. */
  refuse(args: Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>): GraphQLError | null;
  /** How many requests an operation counts for the rate limit. */
  requests(document: DocumentNode, operationName: string | null | undefined): number;
  /** The error without the length of a value that it quotes, and without a hint at other names of the schema where clients may not ask for it. */
  hushed(error: GraphQLError): GraphQLError;
  /** A document with this very text that was found valid before, if it is remembered. */
  known(source: string): DocumentNode | null;
}

/** Documents are remembered up to this many tokens in all, about 400 bytes each, and characters; compiled, they take up to four times as much. */
const [REMEMBERED_TOKENS, CHARACTERS_A_TOKEN] = [60_000, 100];

/** How graphql-js begins the end of a message that names what else may have been meant. */
const SUGGESTION = 'Did you mean ';
/** Characters of a message that are kept at either end: it says what is wrong before and after what it quotes, which may be all that was sent. */
const KEPT = 500;

export function createGate({ introspection, operations, operationsOnly = false }: GateSettings): Gate {
  const mayRun = operationsOnly ? new Set(operations?.values()) : null;
  const rules = [...specifiedRules, responseNames, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
  const valid = new LRUCache<string, DocumentNode>({ max: 1000, maxSize: REMEMBERED_TOKENS });
  return {
    listed: (sha256) => operations?.get(sha256) ?? null,
    parse(source) {
      const remembered = valid.get(source);
      if (remembered) return remembered;
      if (source.length > LIMITS.characters) {
        throw new GraphQLError(
          `A document may have at most ${LIMITS.characters.toLocaleString('en')} characters. Send values as variables.`,
        );
      }
      if (mayRun && !mayRun.has(source))
        throw new GraphQLError('Only listed operations may run here, and this is none of them.');
      return parse(source, { maxTokens: LIMITS.tokens });
    },
    validate(document) {
      const source = document.loc?.source.body ?? '';
      if (valid.has(source)) return [];
      const exceeded = exceededLimits(schema, document);
      if (exceeded.length > 0) return exceeded;
      const errors = validate(schema, document, rules, { maxErrors: 20 });
      if (errors.length === 0) {
        valid.set(source, document, {
          size: (document.tokenCount ?? LIMITS.tokens) + Math.ceil(source.length / CHARACTERS_A_TOKEN),
        });
      }
      return errors;
    },
    refuse({ document, operationName, variableValues }) {
      const operation = getOperationAST(document, operationName);
      return operation ? exceededCost(schema, document, operation, variableValues ?? {}) : null;
    },
    requests: (document, operationName) => requestsOf(schema, document, getOperationAST(document, operationName)),
    hushed(error) {
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
    known: (source) => valid.get(source) ?? null,
  };
}

/** Names that the answer's objects can not have in JavaScript: one would be lost, the other make the whole answer look like a promise. */
function responseNames(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      const { value } = node.alias ?? node.name;
      if (value !== '__proto__' && value !== 'then') return;
      context.reportError(
        new GraphQLError(`Nothing can be answered under the name "${value}". Use another alias.`, { nodes: node }),
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
