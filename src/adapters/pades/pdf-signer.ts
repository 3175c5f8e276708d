import { SigningFailed, type SigningKey } from '../../domain/invoice/signing-key.ts';
import { createThreads, type OnFatal } from '../threads.ts';
import type { Attachment, DocumentFacts } from './archival-objects.ts';
import type { PdfIngredients, UnsignedPdf } from './assemble-pdf.ts';
import { cadesSignature, cadesSignatureLimit } from './cades-signature.ts';

export interface PdfSigner {
  /**
   * Makes the final document of a printed one: PDF/A-3A (ISO 19005-3) with the attachment as an associated file, and a PAdES baseline B-B
   * signature (ETSI EN 319 142-1) that covers the whole file and certifies that nothing of it may be changed.
   * @param printed tagged, as the browser made it
   * @throws {SigningFailed} when the key can't be used, or the certificate is not valid at the time
   * @throws {Error} when the browser printed in a way that is not understood
   */
  sign(key: SigningKey, printed: Uint8Array, facts: DocumentFacts, attachment: Attachment): Promise<Uint8Array>;
  /** Ends the thread; what is under way fails. */
  close(): Promise<void>;
}

/**
 * Puts documents together on a thread of its own, because those of 1,000 lines take longer than the event loop may be held. The thread is
 * started at once and kept warm; it does not keep the process alive when nothing is under way.
 */
export function createPdfSigner(onFatal?: OnFatal): PdfSigner {
  const threads = createThreads<PdfIngredients, UnsignedPdf>(
    { filename: new URL('./assembly-thread.ts', import.meta.url).href },
    onFatal,
  );
  return {
    async sign(key, printed, facts, attachment) {
      const room = cadesSignatureLimit(key);
      expectValidity(key, facts.at);
      const { bytes, signatureAt, digest } = await threads.run({ printed, facts, attachment, room });
      const signature = await cadesSignature(key, digest);
      Buffer.from(bytes.buffer, bytes.byteOffset).write(signature.toString('hex'), signatureAt, 'latin1');
      return bytes;
    },
    close: threads.close,
  };
}

/** A signature made outside its certificate's validity is worth nothing (EN 319 102-1, section 5.2.8). */
function expectValidity({ certificateChain: [{ validFromDate, validToDate }] }: SigningKey, at: Date): void {
  if (at < validFromDate || at > validToDate) {
    const [from, to] = [validFromDate, validToDate].map((date) => date.toISOString());
    throw new SigningFailed(`The signing certificate is valid from ${from} to ${to}, not at ${at.toISOString()}.`);
  }
}
