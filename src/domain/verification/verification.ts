/** Of a document that is checked, bytes; the longest invoice of this service has 4 MB. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

/** What an independent check of a signed invoice found. */
export type Verification = ValidSignature | InvalidSignature;

export interface ValidSignature {
  readonly valid: true;
  /** As the signer claims it; within the certificate's validity. */
  readonly signingTime: Date;
  /** URI of the signature's algorithm. */
  readonly algorithm: string;
  /** Whose key signed. Whether this signer is to be trusted is for the caller to decide, by its fingerprint. */
  readonly certificate: SigningCertificate;
  /** The certificates that the document brings, DER: the signer's, then any others, of which nothing was checked. */
  readonly certificates: readonly Uint8Array[];
  readonly covered: CoveredDocument;
  /** When the signature was there, as a time-stamping authority says (baseline B-T), whose trust is not checked; null: no time stamp. */
  readonly timeStamp: { readonly time: Date; readonly authority: string } | null;
}

export interface SigningCertificate {
  readonly subject: string;
  readonly issuer: string;
  readonly serialNumber: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  /** SHA-256 of the DER certificate, lower-case hex. */
  readonly fingerprint: string;
}

/** The signature covers the whole document but itself; this tells which document that is. */
export interface CoveredDocument {
  /** Local name of the root element, `Invoice`. */
  readonly type: string;
  /** The document's own number (its cbc:ID). */
  readonly number: string | null;
  /** SHA-256 of what is covered in canonical form, base64. */
  readonly digest: string;
}

export interface InvalidSignature {
  readonly valid: false;
  /**
   * The first check that failed: `limits` (too large, deep or crowded to be checked: nothing is said of its signature), `structure` (not one signature over a whole UBL document), `digest` (changed after it was signed),
   * `signature` (not made by the certificate's key), `certificate` (not the one that was signed with, or not fit for signing) or
   * `timestamp` (not of this signature, or not made by a time-stamping authority).
   */
  readonly failed: 'limits' | 'structure' | 'digest' | 'signature' | 'certificate' | 'timestamp';
  /** A sentence for a person. */
  readonly reason: string;
}

/** Thrown by a verifier that gave a document up: it took longer or more memory than any invoice. The message is a sentence for a person. */
export class VerificationGivenUp extends Error {}

/** What is said of such a document to who asked: nothing is known of its signature. @throws what is no {@link VerificationGivenUp} */
export function givenUp(error: unknown): InvalidSignature {
  if (error instanceof VerificationGivenUp) return { valid: false, failed: 'limits', reason: error.message };
  throw error;
}
