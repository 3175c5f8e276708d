import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DataKey, DataKeys } from '../data-keys.ts';
import { splitName, withName } from '../installation-name.ts';
import type { DocumentKind } from './documents.ts';
import { isDocumentId } from './kinds.ts';

const SEPARATOR = '_secret_';

/** Derives and checks client_secrets and the tokens of document URLs. No secret is stored with an invoice. */
export interface ClientSecrets {
  /**
   * Returns `<invoice_id>_secret_<32 url-safe characters>`. It is the same for an invoice until a newer key is added,
   * so a replay can return it again. An installation with a name has `<name>_` before the 32.
   */
  issue(invoiceId: string): string;
  /**
   * Returns the invoice's id if the secret is valid, otherwise null. The name of the installation in it does not
   * matter. Compares in constant time.
   */
  verify(clientSecret: string): string | null;
  /** Returns the secret part of a document URL. A higher `revision` revokes the URLs of earlier ones. */
  documentToken(invoiceId: string, kind: DocumentKind, revision: number): string;
  /** Whether a token belongs to this document. Compares in constant time. */
  verifyDocumentToken(token: string, invoiceId: string, kind: DocumentKind, revision: number): boolean;
}

/**
 * Creates the secrets.
 * @param keys each opens every invoice; the newest issues secrets, and those of any accepted key are valid
 * @param installation the name in the client_secrets; null for none
 */
export function createClientSecrets(keys: DataKeys, installation: string | null = null): ClientSecrets {
  // Truncated to 192 bits, which are 32 characters of base64url.
  const derive = ({ secret }: DataKey, purpose: string) =>
    createHmac('sha256', secret).update(purpose).digest().subarray(0, 24).toString('base64url');
  const secretOf = (key: DataKey, invoiceId: string) => derive(key, `client-secret:${invoiceId}`);
  const tokenOf = (key: DataKey, invoiceId: string, kind: DocumentKind, revision: number) =>
    derive(key, `document:${kind}:${revision}:${invoiceId}`);
  return {
    issue: (invoiceId) => `${invoiceId}${SEPARATOR}${withName(installation, secretOf(keys.newest(), invoiceId))}`,
    verify(clientSecret) {
      const invoiceId = clientSecret.split(SEPARATOR, 1)[0] ?? '';
      const given = splitName(clientSecret.slice(invoiceId.length + SEPARATOR.length));
      if (!isDocumentId(invoiceId) || given === null) return null;
      const isIssued = (key: DataKey) => equalInConstantTime(given.random, secretOf(key, invoiceId));
      return keys.accepted().some(isIssued) ? invoiceId : null;
    },
    documentToken: (invoiceId, kind, revision) => tokenOf(keys.newest(), invoiceId, kind, revision),
    verifyDocumentToken: (token, invoiceId, kind, revision) =>
      keys.accepted().some((key) => equalInConstantTime(token, tokenOf(key, invoiceId, kind, revision))),
  };
}

function equalInConstantTime(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
