import { type Problem, problem } from '../errors.ts';
import { problemsOf } from '../input-problems.ts';
import { MAX_IDEMPOTENCY_KEY } from '../limits.ts';
import { fits, isPrintableLine, PRINTABLE_HEADER } from '../printable-text.ts';
import { inputSchema, restReader } from './field-makers.ts';
import type { Field, Input } from './field-table.ts';
import { INVOICE } from './fields.ts';

/** The input of the use case and of GraphQL. It checks only the structure, so a violation is a 400. */
export const createInvoiceInput = inputSchema(INVOICE, 'graphql');
export type CreateInvoiceInput = Input<typeof INVOICE>;

/** The body of POST /v1/invoices (docs/api/contract.md, "POST /v1/invoices"). */
export const restInvoiceBody = inputSchema(INVOICE, 'rest');

/**
 * Fields that only GraphQL's input has, by the names that a REST client may try: GraphQL's own names and the same in
 * REST's style. Members of a record are also listed without it, because other services have them at the top level.
 */
const GRAPHQL_ONLY: ReadonlyMap<string, string> = new Map(
  Object.entries<Field>(INVOICE.fields).flatMap(([name, field]) => {
    if (field.rest !== null || field.input === undefined) return [];
    const members = 'record' in field ? Object.keys(field.record.fields) : [];
    const paths = [[name, name] as const, ...members.map((member) => [member, `${name}.${member}`] as const)];
    return paths.flatMap(([each, path]) => [[each, path] as const, [snakeCase(each), path] as const]);
  }),
);

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the problems (400) of a REST body. If a field exists only in GraphQL, the message says so. */
export function restBodyProblems(error: Parameters<typeof problemsOf>[0]): [Problem, ...Problem[]] {
  const [first, ...rest] = problemsOf(error);
  return [hinted(first), ...rest.map(hinted)];
}

function hinted(problem: Problem): Problem {
  const path = GRAPHQL_ONLY.get(problem.param ?? '');
  if (path === undefined) return problem;
  const where = path === problem.param ? 'it' : `it as ${path}`;
  return { ...problem, message: problem.message.replace(/\.$/, `; GraphQL's createInvoice has ${where}.`) };
}

/** Translates a valid REST body to the input of the use case. */
export const inputOfRestBody = restReader(INVOICE);

/** JSON Schema of the header `Idempotency-Key`. The maximum length includes the quotes. */
export const IDEMPOTENCY_KEY_SCHEMA = {
  minLength: 1,
  maxLength: MAX_IDEMPOTENCY_KEY + 2,
  ...PRINTABLE_HEADER,
} as const;

/**
 * Returns what is wrong with an Idempotency-Key; null if nothing is. Surrounding quotes (as in the IETF draft) are part
 * of the key but do not count towards its length.
 */
export function idempotencyKeyProblem(key: string): Problem | null {
  const text = /^"(.*)"$/s.exec(key)?.[1] ?? key;
  if (text.length >= 1 && fits(text, MAX_IDEMPOTENCY_KEY) && isPrintableLine(text)) return null;
  const message = `idempotencyKey must have 1 to ${MAX_IDEMPOTENCY_KEY} printable characters, without tabs and line breaks.`;
  return problem('invalid_request', message, 'idempotencyKey');
}
