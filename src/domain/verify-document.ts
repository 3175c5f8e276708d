import { serviceError } from './errors.ts';
import type { Verification } from './verification.ts';

/** Checks a signed invoice, whoever issued it. @throws {ServiceError} rate_limit_exceeded while too many wait for theirs */
export type VerifyDocument = (xml: string) => Promise<Verification>;

/** A check of the longest documents takes a second or two of the one thread that does them. */
const MAX_WAITING = 16;

export function createVerifyDocument(verify: (document: Uint8Array) => Promise<Verification>): VerifyDocument {
  let waiting = 0;
  return async (xml) => {
    if (waiting >= MAX_WAITING) {
      throw serviceError('rate_limit_exceeded', 'Too many documents wait to be verified. Try again in some seconds.');
    }
    waiting++;
    try {
      return await verify(Buffer.from(xml));
    } finally {
      waiting--;
    }
  };
}
