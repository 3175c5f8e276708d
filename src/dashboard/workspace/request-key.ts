import { useMemo } from 'preact/hooks';

/**
 * Returns an idempotency key that stays the same while the request stays the same, so that a repeated request creates
 * nothing twice. Each opened page has its own keys.
 */
export function useRequestKey(request: object): string {
  const content = JSON.stringify(request);
  // Not `randomUUID`, which browsers have over TLS and on this machine only.
  return useMemo(() => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  }, [content]);
}
