import { ApiError, CancelledError, ConnectionError } from './errors.ts';

/** The pause before the first repetition, and the longest one, milliseconds. Each is up to twice the one before. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [250, 8000];
/** A call does not wait for a longer `Retry-After`. Whoever follows an invoice asks again after so long. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.isLasting;
  return error instanceof ApiError && (error.status === 408 || error.status === 429 || error.status >= 500);
}

/** Whether the service has surely done nothing, so that a repetition does no harm whatever the request is. */
export function isUndone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 429;
}

/** Whether an attempt has done nothing, because the service, or what is before it, refused it. */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.status !== 408;
}

/** How long a call pauses before its next attempt, milliseconds; null if a repetition would not help. */
export function pauseBefore(error: ApiError | ConnectionError, attempt: number): number | null {
  if (!isPassing(error)) return null;
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : null;
  if (retryAfterMs === null) return most / 2 + (Math.random() * most) / 2;
  return retryAfterMs > LONGEST_RETRY_AFTER_MS ? null : Math.max(retryAfterMs, FIRST_PAUSE_MS);
}

/** How long an error asks whoever follows an invoice to wait, milliseconds. */
export function restOf(error: unknown): number {
  return error instanceof ApiError ? Math.min(error.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS) : 0;
}

/** Reads `Retry-After`, a number of seconds or a date (RFC 9110, section 10.2.3): milliseconds; null if it is neither. */
export function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse makes a date of `1.5`, too.
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
