import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Issuer } from '../../../scripts/authority-simulator/certificates.ts';
import { type ReceiptFacts, receiptElements } from '../../../src/adapters/authority/receipt-writer.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';

const NOW = new Date('2026-11-22T10:00:00Z');
const EXTENSIONS = 'urn:oasis:names:specification:ubl:schema:xsd:CommonExtensionComponents-2';

/** A signed document with the authority's clearance as its last extension (docs/decisions/0042). */
export async function cleared(document: Buffer, by: Issuer, facts: Partial<ReceiptFacts> = {}): Promise<Buffer> {
  const stated: ReceiptFacts = {
    dgiId: 'DGI-1',
    submissionId: 'inv_1',
    status: 'accepted',
    decidedAt: NOW,
    digest: createHash('sha256').update(document).digest('hex'),
    ...facts,
  };
  const start = `<Clearance xmlns="urn:authority:clearance:1" Id="authority-clearance">${receiptElements(stated)}`;
  const octets = Buffer.from(`${start}</Clearance>`);
  const key = softwareKey({ privateKey: by.privateKey, certificateChain: [by.certificate] });
  const signer = createDocumentSigner(key, { scope: { id: 'authority-signature', uri: '#authority-clearance' } });
  const sha256 = createHash('sha256').update(octets).digest('base64');
  const clearance = await signer.sign({ octets, signatureAt: Buffer.byteLength(start), sha256 }, NOW);
  const at = document.indexOf('</ext:UBLExtensions>');
  expect(at).toBeGreaterThan(0);
  const head = `<ext:UBLExtension xmlns:ext="${EXTENSIONS}"><ext:ExtensionURI>urn:authority:clearance:1</ext:ExtensionURI><ext:ExtensionContent>`;
  return Buffer.concat([
    document.subarray(0, at),
    Buffer.from(head),
    clearance,
    Buffer.from('</ext:ExtensionContent></ext:UBLExtension>'),
    document.subarray(at),
  ]);
}
