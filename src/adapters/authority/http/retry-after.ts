import type { Answer } from './connection.ts';

/** A longer wait would be an error of the other side. */
const MAX_WAIT_MS = 24 * 3_600_000;

/** The `Retry-After` header in milliseconds; null if it is absent or not a number of seconds. */
export function retryAfterOf({ headers }: Pick<Answer, 'headers'>): number | null {
  const text = headers.get('retry-after');
  return text !== undefined && /^\d{1,9}$/.test(text) ? Math.min(Number(text) * 1000, MAX_WAIT_MS) : null;
}

/** The `retry_after` of a submission, seconds, in milliseconds. */
export function waitOf(seconds: number | null): number | null {
  return seconds === null ? null : Math.min(Math.max(0, seconds) * 1000, MAX_WAIT_MS);
}
