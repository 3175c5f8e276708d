import { createHash } from 'node:crypto';
import { type ReceiptFacts, receiptElements, writeReceipt } from '../../src/adapters/authority/receipt-writer.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../src/adapters/signing-key/test-certificate.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import type { WRONG_RECEIPTS } from './faults.ts';
import type { KeyPair } from './identity.ts';
import type { Entry } from './ledger.ts';

/** Namespace of the extension that the authority adds to a cleared document. */
const CLEARANCE_NAMESPACE = 'urn:authority:clearance:1';
const EXTENSION = 'urn:oasis:names:specification:ubl:schema:xsd:CommonExtensionComponents-2';
const CLEARANCE_ID = 'authority-clearance';
const CLEARANCE_SCOPE = { id: 'authority-signature', uri: `#${CLEARANCE_ID}` };

/** Returns the facts that a receipt states about a decided entry. @throws {Error} when it was not accepted */
export function receiptFacts({ received, decided }: Entry): ReceiptFacts {
  if (decided?.dgiId == null) throw new Error(`${received.id} has no receipt.`);
  return {
    dgiId: decided.dgiId,
    submissionId: received.id,
    digest: received.digest,
    status: decided.status,
    decidedAt: new Date(decided.decidedAt),
  };
}

/** Writes a receipt that is signed with a key of the authority, at `time` (milliseconds). */
export function signReceipt(facts: ReceiptFacts, key: KeyPair, time: number): Promise<Uint8Array> {
  return writeReceipt(facts, createDocumentSigner(softwareKey(identityOf(key))), new Date(time));
}

/** Makes a receipt that must be refused, for one reason. */
export async function wrongReceipt(
  what: (typeof WRONG_RECEIPTS)[number],
  facts: ReceiptFacts,
  key: KeyPair,
  time: number,
): Promise<Uint8Array> {
  switch (what) {
    case 'digest':
      return signReceipt({ ...facts, digest: createHash('sha256').update(facts.digest).digest('hex') }, key, time);
    case 'id':
      return signReceipt({ ...facts, submissionId: `${facts.submissionId}-other` }, key, time);
    case 'status':
      return signReceipt({ ...facts, status: 'rejected' }, key, time);
    case 'signer': {
      const { privateKey, certificateChain } = await makeTestIdentity(new Date(time - 86_400_000));
      const [certificate] = certificateChain;
      if (certificate === undefined) throw new Error('there is no certificate');
      return signReceipt(facts, { privateKey, certificate }, time);
    }
    case 'signature': {
      // A signed value was changed: the time, which nothing but the signature protects.
      const text = Buffer.from(await signReceipt(facts, key, time)).toString();
      const other = new Date(facts.decidedAt.getTime() - 1000).toISOString();
      return Buffer.from(text.replace(facts.decidedAt.toISOString(), other));
    }
  }
}

/**
 * Makes the cleared document: the submitted one with one more extension, whose `Clearance` states the same as the
 * receipt and has the authority's signature over itself. Without that extension it is the submitted document byte for
 * byte, whose SHA-256 is the clearance's `Digest`: so the seller's signature is verified on the document that remains
 * when it is cut out.
 * @returns null when the document has no extensions, as no signed one is
 */
export async function clearedDocument(
  document: Buffer,
  facts: ReceiptFacts,
  key: KeyPair,
  time: number,
): Promise<Uint8Array | null> {
  const at = /<\/(?:\w+:)?UBLExtensions\s*>/.exec(document.toString('latin1'))?.index;
  if (at === undefined) return null;
  const [start, end] = [
    `<Clearance xmlns="${CLEARANCE_NAMESPACE}" Id="${CLEARANCE_ID}">${receiptElements(facts)}`,
    '</Clearance>',
  ];
  const octets = Buffer.from(start + end);
  const signer = createDocumentSigner(softwareKey(identityOf(key)), { scope: CLEARANCE_SCOPE });
  const sha256 = createHash('sha256').update(octets).digest('base64');
  const clearance = await signer.sign({ octets, signatureAt: Buffer.byteLength(start), sha256 }, new Date(time));
  return Buffer.concat([
    document.subarray(0, at),
    Buffer.from(
      `<ext:UBLExtension xmlns:ext="${EXTENSION}"><ext:ExtensionURI>${CLEARANCE_NAMESPACE}</ext:ExtensionURI><ext:ExtensionContent>`,
    ),
    clearance,
    Buffer.from('</ext:ExtensionContent></ext:UBLExtension>'),
    document.subarray(at),
  ]);
}

function identityOf({ privateKey, certificate }: KeyPair) {
  return { privateKey, certificateChain: [certificate] };
}
