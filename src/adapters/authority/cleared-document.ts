import { createHash } from 'node:crypto';
import type { CheckCleared } from '../../domain/invoice/ports.ts';
import { cutClearance } from '../../domain/verification/cut-clearance.ts';
import { MAX_DOCUMENT_BYTES, type SignedFacts, type ValidSignature } from '../../domain/verification/verification.ts';
import { type PaperParts, signedByAuthority } from './receipt-reader.ts';

/**
 * Creates the check of cleared documents (docs/decisions/0042). It accepts two forms:
 * - the document that was sent, byte for byte, with one more extension at the end of its UBLExtensions: a `Clearance`
 * that states the same as the receipt and bears the authority's signature over itself;
 * - a UBL document whose only signature is the authority's and which states the same number, date, parties, currency,
 * tax and amount to pay.
 */
export function createClearedCheck(parts: PaperParts): CheckCleared {
  return async (cleared, sent, invoice) => {
    if (cleared.length > MAX_DOCUMENT_BYTES) return 'The document is too large.';
    const extended = cutClearance(Buffer.from(cleared.buffer, cleared.byteOffset, cleared.byteLength));
    if (extended === null) {
      const signature = await signedByAuthority(parts, cleared, 'ubl');
      if ('fault' in signature) return signature.fault;
      // The facts of the sent document come from verifying it, so both documents are read in the same way.
      const own = await parts.verify(sent, 'ubl');
      if (!own.valid) throw new Error(`the document that was sent is not valid: ${own.reason}`);
      return differenceOf(statementsOf(signature), statementsOf(own));
    }
    if (!extended.remainder.equals(sent)) return 'Apart from its clearance, it is not the document that was sent.';
    const signature = await signedByAuthority(parts, extended.clearance, 'clearance');
    if ('fault' in signature) return signature.fault;
    const { DecidedAt: _, ...stated } = signature.facts;
    return differenceOf(stated, {
      DgiId: invoice.dgiId,
      SubmissionId: invoice.heldAs ?? invoice.id,
      Digest: createHash('sha256').update(sent).digest('hex'),
      Status: 'accepted',
    });
  };
}

function statementsOf({ covered, facts }: ValidSignature): SignedFacts {
  return { type: covered.type, ...(covered.number !== null && { number: covered.number }), ...facts };
}

/**
 * Returns a sentence that names the facts that differ; null if none do. A fact that both sides lack counts as equal.
 */
function differenceOf(stated: SignedFacts, expected: Readonly<Record<string, string | null>>): string | null {
  const names = new Set([...Object.keys(expected), ...Object.keys(stated)]);
  const different = [...names].filter((name) => stated[name] !== expected[name]);
  return different.length === 0 ? null : `It is of another invoice: its ${different.join(' and ')} differ.`;
}
