import { expectValidity, type SigningKey } from '../../domain/invoice/signing-key.ts';
import { createThreads, type OnFatal } from '../threads.ts';
import type { Attachment, DocumentFacts } from './archival-objects.ts';
import type { PdfIngredients, UnsignedPdf } from './assemble-pdf.ts';
import { cadesSignature, cadesSignatureLimit } from './cades-signature.ts';

export interface PdfSigner {
  /**
   * Turns a printed document into the final one: PDF/A-3A (ISO 19005-3) with the attachments as associated files and a
   * PAdES baseline B-B signature (ETSI EN 319 142-1) that covers the whole file and certifies it with no changes
   * allowed.
   * @param printed a tagged PDF, as the browser prints it
   * @throws {SigningFailed} when the key cannot be used, or when the certificate is not valid at `facts.at`
   * @throws {Error} when the printed PDF has an unexpected structure
   */
  sign(
    key: SigningKey,
    printed: Uint8Array,
    facts: DocumentFacts,
    attachments: readonly Attachment[],
  ): Promise<Uint8Array>;
  /** Stops the thread. Documents in progress fail. */
  close(): Promise<void>;
}

/**
 * Assembles documents on a worker thread, because 1,000 lines would block the event loop for too long. While idle the
 * thread does not keep the process alive.
 */
export function createPdfSigner(onFatal?: OnFatal): PdfSigner {
  const threads = createThreads<PdfIngredients, UnsignedPdf>(
    { filename: new URL('./assembly-thread.ts', import.meta.url).href },
    onFatal,
  );
  return {
    async sign(key, printed, facts, attachments) {
      const room = cadesSignatureLimit(key);
      expectValidity(key, facts.at);
      const { bytes, signatureAt, digest } = await threads.run({ printed, facts, attachments, room });
      const signature = await cadesSignature(key, digest);
      Buffer.from(bytes.buffer, bytes.byteOffset).write(signature.toString('hex'), signatureAt, 'latin1');
      return bytes;
    },
    close: threads.close,
  };
}
