import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The tokens of graphql-sse's single connection mode: whoever knows one is told what its stream tells. */
export interface StreamTokens {
  /** A new token that is of use to this caller only. */
  issue(owner: string): string;
  /** Whether the token was issued to this caller, by this process. */
  isOf(token: string, owner: string): boolean;
}

/**
 * The library's own tokens come from Math.random and serve whoever presents them, so one caller could guess and read another's stream.
 * These are random and bound to the caller.
 */
export function createStreamTokens(): StreamTokens {
  const key = randomBytes(32);
  const sign = (nonce: string, owner: string) =>
    createHmac('sha256', key).update(`${nonce}:${owner}`).digest().subarray(0, 16).toString('base64url');
  return {
    issue(owner) {
      const nonce = randomBytes(16).toString('base64url');
      return `${nonce}.${sign(nonce, owner)}`;
    },
    isOf(token, owner) {
      const [nonce = '', signature = ''] = token.split('.', 2);
      const expected = Buffer.from(`${nonce}.${sign(nonce, owner)}`);
      const given = Buffer.from(token);
      return signature !== '' && given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
