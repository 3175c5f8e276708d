import { createHash } from 'node:crypto';
import type { CheckCleared } from '../../domain/invoice/ports.ts';
import { decimalOf } from '../../domain/money.ts';
import { completedProfile } from '../../domain/tenant/tenant.ts';
import { MAX_DOCUMENT_BYTES } from '../../domain/verification/verification.ts';
import { cutClearance } from '../xades/cleared-form.ts';
import { type PaperParts, signedByAuthority } from './receipt-reader.ts';

/**
 * Makes the check of cleared documents (docs/decisions/0042). Two forms are accepted:
 * - the document that was sent, byte for byte, with one more extension at the end of its UBLExtensions: a `Clearance`
 *   that states the same as the receipt and bears the authority's signature over itself;
 * - a UBL document whose only signature is the authority's and which states the same number, seller and amount to pay.
 */
export function createClearedCheck(parts: PaperParts): CheckCleared {
  return async (cleared, sent, invoice) => {
    if (cleared.length > MAX_DOCUMENT_BYTES) return 'The document is too large.';
    const extended = cutClearance(Buffer.from(cleared.buffer, cleared.byteOffset, cleared.byteLength));
    if (extended === null) {
      const signature = await signedByAuthority(parts, cleared, 'ubl');
      if ('fault' in signature) return signature.fault;
      const { sellerIce, currency, payable } = signature.facts;
      return differenceOf(
        { number: signature.covered.number, sellerIce, currency, payable },
        {
          number: invoice.number,
          sellerIce: completedProfile(invoice.seller).seller.ice,
          currency: invoice.currency,
          payable: decimalOf(invoice.amount),
        },
      );
    }
    if (!extended.remainder.equals(sent)) return 'Apart from its clearance, it is not the document that was sent.';
    const signature = await signedByAuthority(parts, extended.clearance, 'clearance');
    if ('fault' in signature) return signature.fault;
    const { DgiId, SubmissionId, Digest, Status } = signature.facts;
    return differenceOf(
      { DgiId, SubmissionId, Digest, Status },
      {
        DgiId: invoice.dgiId,
        SubmissionId: invoice.heldAs ?? invoice.id,
        Digest: createHash('sha256').update(sent).digest('hex'),
        Status: 'accepted',
      },
    );
  };
}

/** A sentence that names what differs; null if nothing does. */
function differenceOf<Name extends string>(
  stated: Readonly<Record<Name, string | null | undefined>>,
  expected: Readonly<Record<NoInfer<Name>, string | null>>,
): string | null {
  const different = (Object.keys(expected) as Name[]).filter((name) => stated[name] !== expected[name]);
  return different.length === 0 ? null : `It is of another invoice: its ${different.join(' and ')} differ.`;
}
