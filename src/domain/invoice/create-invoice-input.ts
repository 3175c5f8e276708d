import { type Problem, problem } from '../errors.ts';
import { MAX_IDEMPOTENCY_KEY } from '../limits.ts';
import { fits, isPrintableLine, PRINTABLE_HEADER } from '../printable-text.ts';
import { inputSchema, restReader } from './field-makers.ts';
import type { Input } from './field-table.ts';
import { INVOICE } from './fields.ts';

/** The input of the use case and of GraphQL. It checks structure only: a violation is a 400. */
export const createInvoiceInput = inputSchema(INVOICE, 'graphql');
export type CreateInvoiceInput = Input<typeof INVOICE>;

/** The body of POST /v1/invoices (docs/api/contract.md, "POST /v1/invoices"). */
export const restInvoiceBody = inputSchema(INVOICE, 'rest');

/** Translates a valid REST body to the input of the use case. */
export const inputOfRestBody = restReader(INVOICE);

/** JSON Schema of the header `Idempotency-Key`: the longest one is in quotes. */
export const IDEMPOTENCY_KEY_SCHEMA = {
  minLength: 1,
  maxLength: MAX_IDEMPOTENCY_KEY + 2,
  ...PRINTABLE_HEADER,
} as const;

/**
 * The fault of an Idempotency-Key; null if it has none. Surrounding quotes (as in the IETF draft) do not count towards
 * its length; they are part of the key.
 */
export function idempotencyKeyProblem(key: string): Problem | null {
  const text = /^"(.*)"$/s.exec(key)?.[1] ?? key;
  if (text.length >= 1 && fits(text, MAX_IDEMPOTENCY_KEY) && isPrintableLine(text)) return null;
  const message = `idempotencyKey must have 1 to ${MAX_IDEMPOTENCY_KEY} printable characters, without tabs and line breaks.`;
  return problem('invalid_request', message, 'idempotencyKey');
}
