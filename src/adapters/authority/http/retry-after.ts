import type { Answer } from './connection.ts';

/** The longest accepted wait. A longer one is taken for an error of the other side. */
const MAX_WAIT_MS = 24 * 3_600_000;

/** Returns the `Retry-After` header in milliseconds; null if it is absent or not a number of seconds. */
export function retryAfterOf({ headers }: Pick<Answer, 'headers'>): number | null {
  const text = headers.get('retry-after');
  return text !== undefined && /^\d{1,9}$/.test(text) ? Math.min(Number(text) * 1000, MAX_WAIT_MS) : null;
}

/** Converts the `retry_after` of a submission from seconds to milliseconds. */
export function waitOf(seconds: number | null): number | null {
  return seconds === null ? null : Math.min(Math.max(0, seconds) * 1000, MAX_WAIT_MS);
}
