import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type SigningIdentity, softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { selfSignedCertificate } from '../../../src/adapters/signing-key/test-certificate.ts';
import { unsignedDocument, writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import type { LegalInvoice } from '../../../src/domain/invoice/ports.ts';

export const FROM = new Date('2026-01-01T00:00:00Z');
export const TO = new Date('2036-01-01T00:00:00Z');
export const SIGNING_TIME = new Date('2026-11-21T10:20:30.400Z');

export function rsaKey(modulusLength: number): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength }).privateKey;
}

export function ecKey(namedCurve: string): KeyObject {
  return generateKeyPairSync('ec', { namedCurve }).privateKey;
}

/** @param certificate changes to the default, a certificate for signing, valid from 2026 to 2036 */
export function identityOf(
  privateKey: KeyObject,
  certificate: { from?: Date; to?: Date; usage?: number } = {},
): SigningIdentity {
  return { privateKey, certificateChain: [selfSignedCertificate({ privateKey, from: FROM, to: TO, ...certificate })] };
}

/** Writes and signs an invoice. */
export async function signedInvoice(
  identity: SigningIdentity,
  invoice: LegalInvoice,
  time = SIGNING_TIME,
): Promise<Buffer> {
  const signed = await createDocumentSigner(softwareKey(identity)).sign(unsignedDocument(writeInvoice(invoice)), time);
  return Buffer.from(signed);
}
