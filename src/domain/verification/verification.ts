/** Maximum size of a document to verify, in bytes; the longest invoice of this service has 4 MB. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

/**
 * The form that a document must have: a UBL invoice or credit note, a receipt of the tax authority, or the clearance
 * that the authority adds to a cleared document.
 */
export type SignedForm = 'ubl' | 'receipt' | 'clearance';

/** The result of verifying a signed document. */
export type Verification = ValidSignature | InvalidSignature;

export interface ValidSignature {
  readonly valid: true;
  /** Claimed by the signer; within the validity of the certificate. */
  readonly signingTime: Date;
  /** URI of the signature algorithm. */
  readonly algorithm: string;
  /** The signer's certificate. Trust is not checked: the caller decides by its fingerprint. */
  readonly certificate: SigningCertificate;
  /** The certificates in the document, DER: the signer's first, then others, which were not checked. */
  readonly certificates: readonly Uint8Array[];
  readonly covered: CoveredDocument;
  /** Texts of the covered document, read from what was verified. */
  readonly facts: SignedFacts;
  /**
   * Proof by a time-stamping authority that the signature existed at `time` (baseline B-T); trust in the authority is
   * not checked. null: no time stamp.
   */
  readonly timeStamp: { readonly time: Date; readonly authority: string } | null;
  /** Of a cleared document: the tax authority's statement in it, with a valid signature of its own. Otherwise null. */
  readonly clearance: Clearance | null;
}

/** The statement that the authority adds to a cleared document (docs/decisions/0042). It covers the whole document. */
export interface Clearance {
  readonly dgiId: string;
  readonly submissionId: string;
  readonly decidedAt: Date;
  /** Of the clearance's signature. As with the document's, trust is not checked. */
  readonly signature: Pick<ValidSignature, 'signingTime' | 'certificate' | 'certificates'>;
}

/**
 * By name. Of a UBL document: `sellerIce`, `customerIce`, `issueDate`, `currency`, `taxAmount` and `payable`, each absent
 * unless it occurs exactly once. Of a receipt or a clearance: every element by its own name (docs/decisions/0042).
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

/** Identifies the document that the signature covers: always the whole document except the signature itself. */
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
   * The first check that failed: `limits` (the document is too large, too deep or has too many nodes; its signature was
   * not checked), `structure` (not exactly one signature over a whole UBL document, a clearance aside), `digest` (changed after signing),
   * `signature` (not made by the certificate's key), `certificate` (not the signing certificate, or not allowed to
   * sign) or `timestamp` (not of this signature, or not made by a time-stamping authority).
   */
  readonly failed: 'limits' | 'structure' | 'digest' | 'signature' | 'certificate' | 'timestamp';
  /** A full sentence for people. */
  readonly reason: string;
}

/** A document took the verifier more time or memory than any invoice. The message is a full sentence for people. */
export class VerificationGivenUp extends Error {}

/** The result for such a document: its signature was not checked. @throws any error but {@link VerificationGivenUp} */
export function givenUp(error: unknown): InvalidSignature {
  if (error instanceof VerificationGivenUp) return { valid: false, failed: 'limits', reason: error.message };
  throw error;
}
