/** Maximum size of a document to verify, in bytes. The longest invoice of this service has 4 MB. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

/**
 * The required form of a document: a UBL invoice or credit note, a receipt of the tax authority, or the clearance that
 * the authority adds to a cleared document.
 */
export type SignedForm = 'ubl' | 'receipt' | 'clearance';

/** The result of verifying a signed document. */
export type Verification = ValidSignature | InvalidSignature;

export interface ValidSignature {
  readonly valid: true;
  /** The time that the signer claims. It is within the validity of the certificate. */
  readonly signingTime: Date;
  /** URI of the signature algorithm. */
  readonly algorithm: string;
  /** The signer's certificate. Trust is not checked here; the caller decides by the fingerprint. */
  readonly certificate: SigningCertificate;
  /** The certificates in the document, DER: the signer's first, then others, which are not checked. */
  readonly certificates: readonly Uint8Array[];
  readonly covered: CoveredDocument;
  /** Texts of the covered document, read from the verified content. */
  readonly facts: SignedFacts;
  /**
   * Proof by a time-stamping authority that the signature existed at `time` (baseline B-T); null if there is none.
   * Trust in the authority is not checked.
   */
  readonly timeStamp: { readonly time: Date; readonly authority: string } | null;
  /** The tax authority's statement in a cleared document, which has a valid signature of its own; otherwise null. */
  readonly clearance: Clearance | null;
}

/** The statement that the authority adds to a cleared document (docs/decisions/0042). It covers the whole document. */
export interface Clearance {
  readonly dgiId: string;
  readonly submissionId: string;
  readonly decidedAt: Date;
  /** The clearance's signature. As with the document's signature, trust is not checked. */
  readonly signature: Pick<ValidSignature, 'signingTime' | 'certificate' | 'certificates'>;
}

/**
 * Facts by name. For a UBL document: `sellerIce`, `customerIce`, `issueDate`, `currency`, `taxAmount` and `payable`,
 * each absent unless it occurs exactly once. For a receipt or a clearance: every element by its own name
 * (docs/decisions/0042).
 */
export type SignedFacts = Readonly<Record<string, string>>;

export interface SigningCertificate {
  readonly subject: string;
  readonly issuer: string;
  readonly serialNumber: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  /** SHA-256 of the DER certificate, lower-case hex. */
  readonly fingerprint: string;
}

/**
 * Identifies the document that the signature covers, which is always the whole document except the signature itself.
 */
export interface CoveredDocument {
  /** Local name of the root element, `Invoice`. */
  readonly type: string;
  /** The document's number (cbc:ID). */
  readonly number: string | null;
  /** SHA-256 of the covered content in canonical form, base64. */
  readonly digest: string;
}

export interface InvalidSignature {
  readonly valid: false;
  /**
   * The first check that failed:
   * - `limits`: the document is too large, too deep or has too many nodes; its signature was not checked
   * - `structure`: there is not exactly one signature over a whole UBL document, apart from a clearance
   * - `digest`: changed after signing
   * - `signature`: not made by the certificate's key
   * - `certificate`: not the signing certificate, or not allowed to sign
   * - `timestamp`: not of this signature, or not made by a time-stamping authority
   */
  readonly failed: 'limits' | 'structure' | 'digest' | 'signature' | 'certificate' | 'timestamp';
  /** A full sentence for people. */
  readonly reason: string;
}

/**
 * A document took the verifier more time or memory than any invoice would. The message is a full sentence for people.
 */
export class VerificationGivenUp extends Error {}

/** Converts the error to a result whose signature was not checked. @throws any error but {@link VerificationGivenUp} */
export function givenUp(error: unknown): InvalidSignature {
  if (error instanceof VerificationGivenUp) return { valid: false, failed: 'limits', reason: error.message };
  throw error;
}
