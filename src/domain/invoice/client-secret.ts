import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { isId } from '../ids.ts';
import type { DocumentKind } from './documents.ts';

const SEPARATOR = '_secret_';

/** Derives and checks client_secrets and the tokens of document URLs. No secret is stored with an invoice. */
export interface ClientSecrets {
  /** `<invoice_id>_secret_<32 url-safe characters>`, always the same for an invoice: a replay can return it again. */
  issue(invoiceId: string): string;
  /** Returns the invoice's id if the secret is valid, otherwise null. Constant-time comparison. */
  verify(clientSecret: string): string | null;
  /** The secret part of a document URL; a higher `revision` revokes the earlier ones. */
  documentToken(invoiceId: string, kind: DocumentKind, revision: number): string;
  /** Whether a token is the one of this document. Constant-time comparison. */
  verifyDocumentToken(token: string, invoiceId: string, kind: DocumentKind, revision: number): boolean;
}

/** @param masterKey at least 32 random bytes; with it every invoice can be read */
export function createClientSecrets(masterKey: Uint8Array): ClientSecrets {
  // Created once: creating a KeyObject costs more than the digest.
  const key = createSecretKey(masterKey);
  // 192 bits: 32 characters of base64url.
  const derive = (purpose: string) =>
    createHmac('sha256', key).update(purpose).digest().subarray(0, 24).toString('base64url');
  const issue = (invoiceId: string) => `${invoiceId}${SEPARATOR}${derive(`client-secret:${invoiceId}`)}`;
  const documentToken: ClientSecrets['documentToken'] = (invoiceId, kind, revision) =>
    derive(`document:${kind}:${revision}:${invoiceId}`);
  return {
    issue,
    verify(clientSecret) {
      const invoiceId = clientSecret.split(SEPARATOR, 1)[0] ?? '';
      return isId('inv', invoiceId) && equalInConstantTime(clientSecret, issue(invoiceId)) ? invoiceId : null;
    },
    documentToken,
    verifyDocumentToken: (token, invoiceId, kind, revision) =>
      equalInConstantTime(token, documentToken(invoiceId, kind, revision)),
  };
}

function equalInConstantTime(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
