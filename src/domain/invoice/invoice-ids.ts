import { createHmac } from 'node:crypto';
import type { Environment } from '../tenant/tenant.ts';
import { KINDS, type Kind } from './kinds.ts';

/** Derives the ids of invoices and credit notes that are created with an Idempotency-Key. */
export interface InvoiceIds {
  /**
   * Returns the id of the document that a request with this Idempotency-Key creates. It is the same at each call.
   * Because the store holds one document per id, it holds one of each kind per key (docs/decisions/0014).
   */
  ofKey(
    owner: { readonly tenantId: string; readonly environment: Environment },
    idempotencyKey: string,
    kind?: Kind,
  ): string;
  /** Returns the id of the invoice as which a draft is issued. No Idempotency-Key gives the same. */
  ofDraft(owner: { readonly tenantId: string; readonly environment: Environment }, draftId: string): string;
  /**
   * Returns the id of the invoice that is imported with this key, a text that its file determines. No Idempotency-Key
   * gives the same.
   */
  ofImport(owner: { readonly tenantId: string; readonly environment: Environment }, key: string): string;
  /** Returns the id of the credit note that is made for a replacing invoice. No Idempotency-Key gives the same. */
  ofReplacement(owner: { readonly tenantId: string; readonly environment: Environment }, replacingId: string): string;
}

/**
 * Creates the ids.
 * @param secret the installation's secret. Without it, a person who sees an id could find its key, such as an order
 * number, by trying likely keys
 */
export function createInvoiceIds(secret: string): InvoiceIds {
  const idOf = (kind: Kind, ...from: readonly string[]): string =>
    `${KINDS[kind].idPrefix}_${uuidOf(createHmac('sha256', secret).update(JSON.stringify(from)).digest())}`;
  return {
    ofKey: ({ tenantId, environment }, idempotencyKey, kind = 'invoice') =>
      idOf(kind, tenantId, environment, idempotencyKey, ...(kind === 'invoice' ? [] : [kind])),
    ofDraft: ({ tenantId, environment }, draftId) => idOf('invoice', tenantId, environment, draftId, 'draft'),
    ofImport: ({ tenantId, environment }, key) => idOf('invoice', tenantId, environment, key, 'import'),
    ofReplacement: ({ tenantId, environment }, replacingId) =>
      idOf('credit_note', tenantId, environment, replacingId, 'credit_note', 'replacement'),
  };
}

/** Formats a UUID of version 4 with 122 pseudo-random bits of a digest (RFC 9562, section 5.4). */
function uuidOf(digest: Buffer): string {
  const octets = digest.subarray(0, 16);
  octets.writeUInt8((octets.readUInt8(6) & 0x0f) | 0x40, 6);
  octets.writeUInt8((octets.readUInt8(8) & 0x3f) | 0x80, 8);
  return octets.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
