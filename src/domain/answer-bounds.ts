import { type ServiceError, serviceError } from './errors.ts';

/** Bytes that an answer in GraphQL may have: any invoice with all its lines, once. */
export const ANSWER_BYTES = 2 * 1024 * 1024;
/** Bytes that one search of the store brings for it. */
export const READ_BYTES = 4 * 1024 * 1024;
/** The most that an invoice takes as it is stored: its request's body has 1 MiB at most, to which names and numbers come. */
export const INVOICE_BYTES = 1.3 * 1024 * 1024;

/** What an answer has too much of when the store was asked for more than {@link READ_BYTES}. */
export const TOO_MANY_BYTES = `more than ${READ_BYTES / 1024 / 1024} MiB behind it`;

/** Of an answer that would be larger than it may be. @param what it would have too much of */
export function answerTooLarge(what: string): ServiceError {
  return serviceError(
    'invalid_request',
    `The answer would have ${what}. Ask for less at once: shorter pages (first, last), fewer fields or fewer aliases.`,
  );
}
