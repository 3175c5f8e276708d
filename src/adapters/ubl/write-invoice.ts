import { createHash } from 'node:crypto';
import { InvalidDocument, type LegalInvoice, type UnsignedDocument } from '../../domain/invoice/ports.ts';
import { type CanonicalXml, writeCanonical } from './canonical-xml.ts';
import { brokenRule } from './check-document.ts';
import { invoiceDocument } from './invoice-document.ts';
import { NAMESPACES } from './vocabulary.ts';

/**
 * Writes a UBL 2.1 Invoice that also keeps every fatal rule of EN 16931, straight in exclusive canonical form, then reads it back and
 * recomputes it. Line ends in texts become LF, those of U+0085 and U+2028 included.
 * @throws {InvalidDocument} naming the rule that is broken
 */
export function writeInvoice(invoice: LegalInvoice): CanonicalXml {
  const document = writeCanonical(invoiceDocument(invoice), NAMESPACES);
  const broken = brokenRule(document.xml);
  if (broken !== null) throw new InvalidDocument(broken);
  return document;
}

/** The octets of a canonical document and their digest: all that signing needs of it. */
export function unsignedDocument({ xml, signatureAt }: CanonicalXml): UnsignedDocument {
  // An array buffer of its own, which can be handed to another thread without being copied.
  const octets = new TextEncoder().encode(xml);
  return {
    octets,
    signatureAt: Buffer.byteLength(xml.slice(0, signatureAt)),
    sha256: createHash('sha256').update(octets).digest('base64'),
  };
}
