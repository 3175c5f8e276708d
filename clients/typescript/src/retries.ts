import { ApiError, CancelledError, ConnectionError } from './errors.ts';

/** The first and the longest pause before a repetition, milliseconds. Each pause is up to twice the previous one. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [250, 8000];
/** A call does not wait for a longer `Retry-After`, milliseconds. `follow` waits this long instead, and tries again. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.isLasting;
  return error instanceof ApiError && (error.status === 408 || error.status === 429 || error.status >= 500);
}

/** Whether the service has certainly done nothing, so that repeating any request does no harm. */
export function isUndone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 429;
}

/** Whether an attempt had no effect, because the service or a proxy refused it. */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 408;
}

/** Returns the pause before the next attempt, milliseconds; null if a repetition would not help. */
export function pauseBefore(error: ApiError | ConnectionError, attempt: number): number | null {
  if (!isPassing(error)) return null;
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : null;
  if (retryAfterMs === null) return most / 2 + (Math.random() * most) / 2;
  return retryAfterMs > LONGEST_RETRY_AFTER_MS ? null : Math.max(retryAfterMs, FIRST_PAUSE_MS);
}

/** Returns how long `follow` waits after an error, milliseconds. */
export function restOf(error: unknown): number {
  return error instanceof ApiError ? Math.min(error.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS) : 0;
}

/** Reads `Retry-After`, seconds or a date (RFC 9110, section 10.2.3), as milliseconds; null if it is neither. */
export function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse would also accept `1.5`.
  const ms = text.endsWith('GMT') ? Date.parse(text) - Date.now() : Number.NaN;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** Waits. @throws CancelledError */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelled = () => {
      clearTimeout(timer);
      reject(new CancelledError('the call was cancelled', { cause: signal?.reason }));
    };
    if (signal?.aborted) return reject(new CancelledError('the call was cancelled', { cause: signal.reason }));
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', cancelled);
      resolve();
    }, ms);
    signal?.addEventListener('abort', cancelled, { once: true });
  });
}
