import { serviceError } from '../errors.ts';
import type { Environment } from '../tenant/tenant.ts';

/** How a request came in. */
export interface Arrival {
  /** Whether over HTTPS, by this process or a trusted proxy. */
  readonly encrypted: boolean;
  /** The client's address. */
  readonly address: string;
  /** The host that the client asked for, with its port. */
  readonly host: string;
}

/** Where each environment is served, where they are told apart: `PUBLIC_URL` and `SANDBOX_URL`. */
export type Sites = Readonly<Record<Environment, string>>;

/**
 * Refuses a key by what its prefix claims, before it is looked up (docs/decisions/0020). Every host but the
 * sandbox's is taken for production, so that a wrong Host header opens nothing.
 * @throws {ServiceError} invalid_api_key (401): a live key over plain HTTP from afar, a key at the other environment's address
 */
export function refuseMisplacedKey(environment: Environment, arrival: Arrival, sites: Sites | null): void {
  if (environment === 'live' && !arrival.encrypted && !isLoopback(arrival.address)) {
    throw serviceError(
      'invalid_api_key',
      'Live keys are taken over HTTPS only. This one has travelled unencrypted: create a new key, use it over https://, and revoke this one.',
    );
  }
  if (!sites) return;
  const here: Environment = isSandbox(arrival.host, sites) ? 'test' : 'live';
  if (environment === here) return;
  throw serviceError(
    'invalid_api_key',
    `This is a ${environment} key, and this address takes ${here} keys only. Use it at ${sites[environment]}, or a ${here} key here.`,
  );
}

function isSandbox(host: string, sites: Sites): boolean {
  const sandbox = new URL(sites.test).host;
  return sandbox === new URL(sites.live).host || host.toLowerCase() === sandbox;
}

function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/i.test(address);
}
