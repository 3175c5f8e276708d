import { type ServiceError, serviceError } from './errors.ts';

/** Maximum size of a GraphQL answer in bytes: any invoice with all its lines fits once. */
export const ANSWER_BYTES = 2 * 1024 * 1024;
/** Maximum size in bytes of the stored objects that one query of the store loads for an answer. */
export const READ_BYTES = 4 * 1024 * 1024;
/** Maximum size of a stored invoice in bytes: a request body has at most 1 MiB, and storing adds names and numbers. */
export const INVOICE_BYTES = Math.ceil(1.3 * 1024 * 1024);

/** Number of the largest invoices that fit into a page of a list, which is one query of the store. */
export const LARGEST_IN_PAGE = Math.floor(READ_BYTES / INVOICE_BYTES);

/** The `what` of {@link answerTooLarge} when a query of the store exceeds {@link READ_BYTES}. */
export const TOO_MANY_BYTES = `more than ${READ_BYTES / 1024 / 1024} MiB of stored data behind it`;

/** Makes the error for an answer that would be too large. @param what completes "The answer would have …" */
export function answerTooLarge(what: string): ServiceError {
  return serviceError(
    'invalid_request',
    `The answer would have ${what}. Ask for less at once: shorter pages (first, last), fewer fields or fewer aliases.`,
  );
}
