import type { X509Certificate } from 'node:crypto';

/**
 * A private key with its certificates, stored in a file or in an HSM that never reveals it. XAdES and PAdES signing
 * need only this interface.
 */
export interface SigningKey {
  /** The signer's certificate first, each followed by its issuer as far as known. */
  readonly certificateChain: readonly [X509Certificate, ...X509Certificate[]];
  /** RSA of 2048 bits or more with PKCS#1 v1.5, or ECDSA on P-256, both with SHA-256. */
  readonly algorithm: 'RSA-SHA256' | 'ECDSA-SHA256';
  /** Whether it is the generated test identity, whose documents have no legal value. */
  readonly testOnly: boolean;
  /**
   * Signs octets. Calls may run concurrently and do not block the event loop.
   * @returns an RSA signature, or an ECDSA one as r and s concatenated (IEEE P1363, 64 octets)
   * @throws {SigningFailed} when the key cannot be used at present
   */
  sign(octets: Uint8Array): Promise<Uint8Array>;
}

/**
 * Why a document could not be signed. With `no_live_certificate`, which only a change of the settings can end, the
 * invoice waits. Each other fault has a text for clients in `rejection-reasons.ts`.
 */
export type SigningFault = 'requested' | 'no_live_certificate' | 'certificate_period' | 'time_stamp' | 'key';

interface SigningFailedOptions extends ErrorOptions {
  /** Default: `key`. */
  readonly fault?: SigningFault;
}

/** A document could not be signed. The message is a full sentence for operators. */
export class SigningFailed extends Error {
  override readonly name = 'SigningFailed';
  readonly fault: SigningFault;

  constructor(message: string, { fault = 'key', ...options }: SigningFailedOptions = {}) {
    super(message, options);
    this.fault = fault;
  }
}

/**
 * Requires that the certificate is valid, because verifiers reject a signature made outside its validity period (EN 319
 * 102-1, section 5.2.8).
 * @throws {SigningFailed} when the signer's certificate is not valid at that time
 */
export function expectValidity({ certificateChain: [{ validFromDate, validToDate }] }: SigningKey, at: Date): void {
  if (at < validFromDate || at > validToDate) {
    const [from, to] = [validFromDate, validToDate].map((date) => date.toISOString());
    throw new SigningFailed(`The signing certificate is valid from ${from} to ${to}, not at ${at.toISOString()}.`, {
      fault: 'certificate_period',
    });
  }
}
