import type { Config } from '../config.ts';
import { UsageError } from './command.ts';

/** Time limit for the request of a service's state, in milliseconds; long enough for a busy service. */
export const STATE_MS = 10_000;

/**
 * Returns the address of the service with this configuration, as seen from this machine; null when the port is not
 * known in advance (PORT 0).
 */
export function serviceAddress({ host, port }: Pick<Config, 'host' | 'port'>): string | null {
  if (port === 0) return null;
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/**
 * The state that a service reports: why it is not ready, or null; and warnings for operators, also when it is ready.
 */
export interface ServiceState {
  readonly reason: string | null;
  readonly warnings: readonly string[];
}

/** Requests the state of the service at the address; null when no Fatoura service answers. */
export async function serviceState(url: string): Promise<ServiceState | null> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(STATE_MS), redirect: 'error' });
    const { status, reason, warnings } = (await response.json()) as Readonly<Record<string, unknown>>;
    if (status !== 'ready' && status !== 'not ready') return null;
    return {
      reason: status === 'ready' ? null : String(reason),
      warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    };
  } catch {
    return null;
  }
}

/**
 * Validates the address given for an option.
 * @param bare whether an address without a scheme (`localhost:4000`) means http; must be false where a credential is
 * sent
 * @throws {UsageError} when it is not an http(s) address
 */
export function httpUrl(text: string, option: string, bare = false): string {
  const url = bare && !/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? `http://${text}` : text;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new UsageError(`${option} must be an http(s) address, not '${text}'`);
}
