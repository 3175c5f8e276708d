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
 * The places of members that other services have at the top level, by the names that a REST client may try there:
 * `due_date` and `dueDate` are `terms.due_date` here.
 */
const PLACES: ReadonlyMap<string, string> = new Map(
  Object.values<Field>(INVOICE.fields).flatMap((field) => {
    if (!field.beyond || !('record' in field)) return [];
    const members = Object.entries<Field>(field.record.fields);
    return members.flatMap(([name, { rest }]) => {
      const place = `${field.rest}.${rest}`;
      return [[name, place] as const, [`${rest}`, place] as const];
    });
  }),
);

/** Returns the problems (400) of a REST body. Of a member at a wrong place the message says the right one. */
export function restBodyProblems(error: Parameters<typeof problemsOf>[0]): [Problem, ...Problem[]] {
  const [first, ...rest] = problemsOf(error);
  return [hinted(first), ...rest.map(hinted)];
}

function hinted(problem: Problem): Problem {
  const place = PLACES.get(problem.param ?? '');
  return place === undefined ? problem : { ...problem, message: problem.message.replace(/\.$/, `; it is ${place}.`) };
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
