import type { X509Certificate } from 'node:crypto';

/**
 * A private key with the certificates that say whose it is, wherever it is kept: in a file or in an HSM that never lets it out. What
 * signs documents (XAdES, PAdES) needs no more of a key than this.
 */
export interface SigningKey {
  /** The signer's own certificate first, each followed by its issuer as far as they are known. */
  readonly certificateChain: readonly [X509Certificate, ...X509Certificate[]];
  /** RSA of 2048 bits or more with PKCS#1 v1.5, or ECDSA on P-256, both with SHA-256. */
  readonly algorithm: 'RSA-SHA256' | 'ECDSA-SHA256';
  /** Whether it is the generated test identity, whose documents have no legal value. */
  readonly testOnly: boolean;
  /**
   * Signs octets; any number of calls may be under way, and the event loop is not held.
   * @returns an RSA signature, or an ECDSA one as r and s side by side (IEEE P1363, 64 octets)
   * @throws {SigningFailed} when the key can't be used at present
   */
  sign(octets: Uint8Array): Promise<Uint8Array>;
}

/** A document could not be signed; the message is a sentence that says why, and the client sees it. */
export class SigningFailed extends Error {
  override readonly name = 'SigningFailed';
  /** Whether it would fail again however often it is tried. */
  readonly lasting: boolean;

  constructor(message: string, { lasting = false, ...options }: ErrorOptions & { lasting?: boolean } = {}) {
    super(message, options);
    this.lasting = lasting;
  }
}
