import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DataKey, DataKeys } from '../data-keys.ts';
import { isId } from '../ids.ts';
import type { DocumentKind } from './documents.ts';

const SEPARATOR = '_secret_';

/** Derives and checks client_secrets and the tokens of document URLs. No secret is stored with an invoice. */
export interface ClientSecrets {
  /**
   * `<invoice_id>_secret_<32 url-safe characters>`, the same for an invoice as long as the newest key is: a replay can
   * return it again.
   */
  issue(invoiceId: string): string;
  /** Returns the invoice's id if the secret is valid, otherwise null. Constant-time comparison. */
  verify(clientSecret: string): string | null;
  /** The secret part of a document URL; a higher `revision` revokes the earlier ones. */
  documentToken(invoiceId: string, kind: DocumentKind, revision: number): string;
  /** Whether a token is the one of this document. Constant-time comparison. */
  verifyDocumentToken(token: string, invoiceId: string, kind: DocumentKind, revision: number): boolean;
}

/** @param keys with one of them every invoice can be read; the newest issues, and what each accepted one issued is valid */
export function createClientSecrets(keys: DataKeys): ClientSecrets {
  // 192 bits: 32 characters of base64url.
  const derive = ({ secret }: DataKey, purpose: string) =>
    createHmac('sha256', secret).update(purpose).digest().subarray(0, 24).toString('base64url');
  const secretOf = (key: DataKey, invoiceId: string) =>
    `${invoiceId}${SEPARATOR}${derive(key, `client-secret:${invoiceId}`)}`;
  const tokenOf = (key: DataKey, invoiceId: string, kind: DocumentKind, revision: number) =>
    derive(key, `document:${kind}:${revision}:${invoiceId}`);
  return {
    issue: (invoiceId) => secretOf(keys.newest(), invoiceId),
    verify(clientSecret) {
      const invoiceId = clientSecret.split(SEPARATOR, 1)[0] ?? '';
      if (!isId('inv', invoiceId)) return null;
      const isIssued = (key: DataKey) => equalInConstantTime(clientSecret, secretOf(key, invoiceId));
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
