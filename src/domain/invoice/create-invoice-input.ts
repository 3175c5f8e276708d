import { type Problem, problem } from '../errors.ts';
import { fits, isPrintable } from '../printable-text.ts';
import { inputSchema, restReader } from './field-makers.ts';
import type { Input } from './field-table.ts';
import { INVOICE } from './fields.ts';

/** What the use case takes, and GraphQL: structure only, what fails here is a 400. */
export const createInvoiceInput = inputSchema(INVOICE, 'graphql');
export type CreateInvoiceInput = Input<typeof INVOICE>;

/** The body of POST /v1/invoices (docs/api/contract.md, "POST /v1/invoices"). */
export const restInvoiceBody = inputSchema(INVOICE, 'rest');

/** The input of the use case for a valid REST body. */
export const inputOfRestBody = restReader(INVOICE);

/** What is wrong with an Idempotency-Key, bare or in the quotes of the IETF draft, which count for nothing here; null when it can be used. */
export function idempotencyKeyProblem(key: string): Problem | null {
  const text = /^"(.*)"$/s.exec(key)?.[1] ?? key;
  if (text.length >= 1 && fits(text, 255) && isPrintable(text)) return null;
  return problem('invalid_request', 'idempotencyKey must have 1 to 255 printable characters.', 'idempotencyKey');
}
