import type { Arrival } from '../arrival.ts';
import type { EmbedTokens } from '../embedding/embed-token.ts';
import { serviceError } from '../errors.ts';
import { otherInstallation } from '../installation-name.ts';
import type { ClientSecrets } from '../invoice/client-secret.ts';
import type { Principal } from '../principal.ts';
import { refuseMisplacedKey, type Sites } from './admission.ts';
import { hashToken, parseToken } from './api-key.ts';
import type { KeyRepository } from './ports.ts';

/**
 * Authenticates the caller by the `Authorization` header (docs/api/contract.md, "Authentication"). Takes one indexed
 * read for a key, none for a client_secret. Only the repository caches (`storage/key-cache.ts`, 50 ms), so a revocation
 * takes effect at once in the process that makes it, and within 100 ms in every other.
 * @throws {ServiceError} 401: invalid_api_key for a missing or malformed header, an unknown credential or a misplaced
 * key (`refuseMisplacedKey`); api_key_revoked
 */
export type Authenticate = (authorization: string | undefined, arrival: Arrival) => Promise<Principal>;

/**
 * Creates the authentication.
 * @param sites null: both environments are served at every URL
 * @param installation the name in the credentials that this installation issues; null for none
 */
export function createAuthenticate(
  tenants: Pick<KeyRepository, 'findByKeyHash'>,
  clientSecrets: ClientSecrets,
  embedTokens: Pick<EmbedTokens, 'verify'>,
  sites: Sites | null,
  installation: string | null,
): Authenticate {
  return async (authorization, arrival) => {
    if (!authorization) {
      throw serviceError('invalid_api_key', 'No credential was sent. Send the header Authorization: Bearer <key>.');
    }
    const token = /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
    if (!token) {
      throw serviceError(
        'invalid_api_key',
        'The Authorization header is malformed. Expected: Authorization: Bearer <key>.',
      );
    }
    const claimed = parseToken(token);
    if (claimed) {
      refuseMisplacedKey(claimed.environment, arrival, sites);
      const found = await tenants.findByKeyHash(hashToken(token));
      if (!found) {
        throw serviceError(
          'invalid_api_key',
          `This API key is not known. Check that it was copied completely.${otherInstallation(claimed.installation, installation)}`,
        );
      }
      if (found.key.revokedAt) {
        throw serviceError('api_key_revoked', 'This API key was revoked. Use the key that replaced it.');
      }
      const { kind, environment, id } = found.key;
      return { kind, keyId: id, tenant: found.tenant, environment };
    }
    const invoiceId = clientSecrets.verify(token);
    const embedded = invoiceId ? null : embedTokens.verify(token, new Date());
    if (embedded?.kind === 'invoice')
      return { kind: 'client', invoiceId: embedded.subject, expiresAt: embedded.expiresAt };
    if (!invoiceId) {
      throw serviceError(
        'invalid_api_key',
        'The credential is neither a known API key (sk_…, pk_…) nor a valid client_secret, nor a token that has not ended.',
      );
    }
    return { kind: 'client', invoiceId };
  };
}
