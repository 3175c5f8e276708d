import { hash, randomBytes } from 'node:crypto';
import { ENVIRONMENTS, type Environment } from '../tenant/tenant.ts';

export const KEY_KINDS = ['secret', 'publishable'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** An API key without its token, which is shown once and never stored (docs/api/contract.md, "API keys"). */
export interface ApiKey {
  /** Prefix key_. */
  readonly id: string;
  readonly kind: KeyKind;
  readonly environment: Environment;
  /** The token's last four characters, by which people recognize a key. */
  readonly lastFour: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

const PREFIX: Readonly<Record<KeyKind, string>> = { secret: 'sk', publishable: 'pk' };

/** A new token: `sk_test_` (or sk_live_, pk_test_, pk_live_) and 192 random bits, url-safe. */
export function newToken(kind: KeyKind, environment: Environment): string {
  return `${PREFIX[kind]}_${environment}_${randomBytes(24).toString('base64url')}`;
}

/**
 * The hash that is stored and looked up instead of a token: SHA-256, lower-case hex. Tokens are long and random, so a
 * plain hash is sufficient.
 */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The kind and environment in a token's prefix; null if it is not an API key. */
export function parseToken(token: string): { kind: KeyKind; environment: Environment } | null {
  for (const kind of KEY_KINDS) {
    for (const environment of ENVIRONMENTS) {
      if (token.startsWith(`${PREFIX[kind]}_${environment}_`)) return { kind, environment };
    }
  }
  return null;
}
