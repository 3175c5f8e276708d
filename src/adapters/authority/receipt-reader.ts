import type { AuthorityReceipt } from '../../domain/authority/ports.ts';
import {
  givenUp,
  type SignedForm,
  type ValidSignature,
  type Verification,
} from '../../domain/verification/verification.ts';

/** Maximum size of a receipt, in bytes. Its certificates take most of that. */
export const MAX_RECEIPT_BYTES = 256 * 1024;

export interface PaperParts {
  /** Verifies a document of this form, on a thread. */
  readonly verify: (document: Uint8Array, form: SignedForm) => Promise<Verification>;
  /** Whether the signer is the authority: its certificate is one of the trusted ones, or was issued under one. */
  readonly trust: (
    signature: ValidSignature,
  ) => { readonly trusted: true } | { readonly trusted: false; readonly reason: string };
}

export type ReceiptReader = (
  document: Uint8Array,
) => Promise<
  | { readonly kind: 'receipt'; readonly receipt: AuthorityReceipt }
  | { readonly kind: 'invalid'; readonly message: string }
>;

/**
 * Creates the reader of the authority's receipts (docs/decisions/0042). A receipt is accepted only if it has at most
 * {@link MAX_RECEIPT_BYTES}, is XML without DOCTYPE, comments or CDATA, and consists of the five elements of the
 * protocol, each once, and one enveloped signature over all of it. The signature must be valid and made by the
 * authority. The texts are read from the verified document itself.
 */
export function createReceiptReader(parts: PaperParts): ReceiptReader {
  return async (document) => {
    if (document.length > MAX_RECEIPT_BYTES)
      return { kind: 'invalid', message: `The receipt is larger than ${MAX_RECEIPT_BYTES / 1024} KiB.` };
    const signature = await signedByAuthority(parts, document, 'receipt');
    if ('fault' in signature) return { kind: 'invalid', message: signature.fault };
    const { SubmissionId = '', DgiId = '', Digest = '', Status = '', DecidedAt = '' } = signature.facts;
    const decidedAt = TIME.test(DecidedAt) ? new Date(DecidedAt) : null;
    if (decidedAt === null || Number.isNaN(decidedAt.getTime()))
      return { kind: 'invalid', message: 'DecidedAt is not a time in UTC.' };
    if (Status !== 'accepted' && Status !== 'rejected')
      return { kind: 'invalid', message: 'Status is neither accepted nor rejected.' };
    if (!/^[\da-f]{64}$/.test(Digest)) return { kind: 'invalid', message: 'Digest is not SHA-256 in hexadecimal.' };
    return {
      kind: 'receipt',
      receipt: { document, submissionId: SubmissionId, dgiId: DgiId, sha256: Digest, status: Status, decidedAt },
    };
  };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** Verifies a document of the authority. `fault` is a full sentence. */
export async function signedByAuthority(
  { verify, trust }: PaperParts,
  document: Uint8Array,
  form: SignedForm,
): Promise<ValidSignature | { readonly fault: string }> {
  const verification = await verify(document, form).catch(givenUp);
  if (!verification.valid) return { fault: verification.reason };
  const verdict = trust(verification);
  return verdict.trusted ? verification : { fault: `The signer is not the tax authority: ${verdict.reason}.` };
}
