import type { Config } from '../config.ts';
import { UsageError } from './command.ts';

/** How long a service may take to say that it is there, milliseconds: a busy one is not to be taken for none. */
export const STATE_MS = 10_000;

/** Where a service with this configuration is reached from this machine; null when its port is not known beforehand (PORT 0). */
export function serviceAddress({ host, port }: Pick<Config, 'host' | 'port'>): string | null {
  if (port === 0) return null;
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/** Asks whoever listens at the address whether it is this service: `ready`, or what it says that it lacks; null when it is not. */
export async function serviceState(url: string): Promise<string | null> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(STATE_MS), redirect: 'error' });
    const { status, reason } = (await response.json()) as { status?: unknown; reason?: unknown };
    if (status === 'ready') return 'ready';
    return status === 'not ready' ? String(reason) : null;
  } catch {
    return null;
  }
}

/**
 * An address that was typed for an option.
 * @param bare whether one without a scheme is taken for http: `localhost:4000`. Not where a credential goes
 * @throws {UsageError} for what is no http(s) address
 */
export function httpUrl(text: string, option: string, bare = false): string {
  const url = bare && !/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? `http://${text}` : text;
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url;
  throw new UsageError(`${option} must be an http(s) address, not '${text}'`);
}
