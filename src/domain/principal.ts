import { serviceError } from './errors.ts';
import type { Environment, Tenant } from './tenant/tenant.ts';

/** The authenticated caller of a request (docs/api/contract.md, "Authentication"). */
export type Principal = KeyPrincipal | ClientPrincipal;

export interface KeyPrincipal {
  readonly kind: 'secret' | 'publishable';
  readonly keyId: string;
  readonly tenant: Tenant;
  readonly environment: Environment;
}

/** The holder of one invoice's client_secret. */
export interface ClientPrincipal {
  readonly kind: 'client';
  readonly invoiceId: string;
}

/**
 * Requires a secret key, which has full access to its tenant and environment.
 * @throws {ServiceError} insufficient_scope (403) for any other credential
 */
export function requireSecretKey(principal: Principal): KeyPrincipal {
  if (principal.kind === 'secret') return principal as KeyPrincipal;
  throw serviceError(
    'insufficient_scope',
    principal.kind === 'client'
      ? 'A client_secret gives access to its own invoice only. Use a secret key (sk_…) from your back end.'
      : 'A publishable key can only read an invoice, with its client_secret. Use a secret key (sk_…) from your back end.',
  );
}
