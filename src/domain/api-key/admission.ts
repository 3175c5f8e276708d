import { type Arrival, isExposed } from '../arrival.ts';
import { serviceError } from '../errors.ts';
import type { Environment } from '../tenant/tenant.ts';

/** The base URL of each environment if they are separate: `PUBLIC_URL` and `SANDBOX_URL`. */
export type Sites = Readonly<Record<Environment, string>>;

/**
 * Refuses a misplaced key by its prefix, before any look-up (docs/decisions/0020). Every host except the sandbox's
 * counts as production, so a wrong Host header gives no access. A forwarded request never counts as local, because a
 * proxy on this machine makes every client look local.
 * @throws {ServiceError} invalid_api_key (401): a live key over plain HTTP from another machine, or a key at the other
 * environment's URL
 */
export function refuseMisplacedKey(environment: Environment, arrival: Arrival, sites: Sites | null): void {
  if (environment === 'live' && !arrival.encrypted && arrival.forwarded) {
    throw serviceError(
      'invalid_api_key',
      'Live keys are accepted over HTTPS only. This request came through a proxy, and it is not known whether that used HTTPS: the operator must set TRUST_PROXY.',
    );
  }
  if (environment === 'live' && isExposed(arrival)) {
    throw serviceError(
      'invalid_api_key',
      'Live keys are accepted over HTTPS only. This key was sent unencrypted: create a new key, use it over https://, and revoke this one.',
    );
  }
  if (!sites) return;
  const here: Environment = isSandbox(arrival.host, sites) ? 'test' : 'live';
  if (environment === here) return;
  throw serviceError(
    'invalid_api_key',
    `This is a ${environment} key, and this address accepts ${here} keys only. Use it at ${sites[environment]}, or a ${here} key here.`,
  );
}

/**
 * Whether the service's URL is HTTPS but no proxy is trusted. The service itself speaks plain HTTP, so HTTPS always
 * ends at a proxy.
 * @param trustedProxies TRUST_PROXY
 */
export function lacksTrustedProxy(publicUrl: string | null, trustedProxies: number): boolean {
  return trustedProxies === 0 && publicUrl !== null && publicUrl.startsWith('https://');
}

function isSandbox(host: string, sites: Sites): boolean {
  const sandbox = new URL(sites.test).host;
  return sandbox === new URL(sites.live).host || host.toLowerCase() === sandbox;
}
