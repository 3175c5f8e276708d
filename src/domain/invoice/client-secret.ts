import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { isId } from '../ids.ts';

const SEPARATOR = '_secret_';

/** Makes and checks client_secrets and the capability parts of document URLs. Nothing secret is stored with an invoice. */
export interface ClientSecrets {
  /** `<invoice_id>_secret_<32 url-safe characters>`: always the same for an invoice, so an idempotent replay can answer it again. */
  issue(invoiceId: string): string;
  /** The invoice's id when the secret is genuine, else null; compared in constant time. */
  verify(clientSecret: string): string | null;
  /** The unguessable part of a document's URL; a higher `revision` revokes the earlier ones. */
  documentToken(invoiceId: string, kind: 'xml' | 'pdf', revision: number): string;
  /** Whether a token is that of this document, in constant time. */
  verifyDocumentToken(token: string, invoiceId: string, kind: 'xml' | 'pdf', revision: number): boolean;
}

/** @param masterKey at least 32 random bytes; whoever has it can read every invoice */
export function createClientSecrets(masterKey: Uint8Array): ClientSecrets {
  // Made once: to make a key of its bytes costs more than the digest.
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
