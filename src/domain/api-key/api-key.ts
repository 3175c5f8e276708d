import { hash, randomBytes } from 'node:crypto';
import { splitName, withName } from '../installation-name.ts';
import { ENVIRONMENTS, type Environment } from '../tenant/tenant.ts';
import { KEY_KINDS, type KeyKind } from './key-kinds.ts';

/** An API key without its token, which is shown once and never stored (docs/api/contract.md, "API keys"). */
export interface ApiKey {
  /** Prefix key_. */
  readonly id: string;
  readonly kind: KeyKind;
  readonly environment: Environment;
  /** The token's last four characters, which help people to recognize a key. */
  readonly lastFour: string;
  /** The name that people gave it; null if it has none. */
  readonly name: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /**
   * The minute of its last use, which is recorded up to some minutes late; null if no use is recorded, as for keys from
   * before uses were recorded.
   */
  readonly lastUsedAt: Date | null;
}

const PREFIX: Readonly<Record<KeyKind, string>> = { secret: 'sk', publishable: 'pk' };

/**
 * Makes a new token: `sk_test_` (or sk_live_, pk_test_, pk_live_), the installation's name and `_` if it has one, and
 * 192 random bits, url-safe.
 */
export function newToken(kind: KeyKind, environment: Environment, installation: string | null): string {
  return `${PREFIX[kind]}_${environment}_${withName(installation, randomBytes(24).toString('base64url'))}`;
}

/**
 * Computes the hash that is stored and looked up instead of a token: SHA-256, lower-case hex. A plain hash is
 * sufficient, because tokens are long and random.
 */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The kind, environment and installation that a token names. They are not verified. */
export interface ClaimedKey {
  readonly kind: KeyKind;
  readonly environment: Environment;
  /** Null if the token names none. */
  readonly installation: string | null;
}

/** Parses the kind, environment and installation of a token; null if it is not an API key. */
export function parseToken(token: string): ClaimedKey | null {
  for (const kind of KEY_KINDS) {
    for (const environment of ENVIRONMENTS) {
      const prefix = `${PREFIX[kind]}_${environment}_`;
      if (!token.startsWith(prefix)) continue;
      return { kind, environment, installation: splitName(token.slice(prefix.length))?.name ?? null };
    }
  }
  return null;
}
