import { next, rejection } from '../changes.ts';
import { type Invoice, NEW_WORK } from '../invoice.ts';
import { legalInvoice } from '../legal-invoice.ts';
import { NO_CERTIFICATE_PAUSE_MS, SIGN_SCHEDULE } from '../pauses.ts';
import type { UnsignedDocument } from '../ports.ts';
import { signingFailed } from '../rejection-reasons.ts';
import type { Claim } from '../repository.ts';
import { SigningFailed } from '../signing-key.ts';
import { scenarioOf } from '../test-scenarios.ts';
import { attemptsOf, byAge, type PipelineParts, type Progress, type RunStage, type Step } from './stage.ts';
import type { TransmitBytes } from './transmit.ts';

/** Signs this document of the invoice, then continues as the stage does. */
export type SignDocument = (claim: Claim, document: UnsignedDocument) => Promise<Step>;

/**
 * Creates the stage that signs and stores the invoice's UBL and transmits the same bytes. It rejects the invoice with
 * `signature_error` after the retries. If the settings lack a certificate, the operator must set one: the invoice keeps
 * its number and waits, and no attempt is counted.
 */
export function createSignStage(
  { documents, writer, signerOf, report }: Pick<PipelineParts, 'documents' | 'writer' | 'signerOf' | 'report'>,
  { change, putOff }: Progress,
  transmitBytes: TransmitBytes,
): { readonly sign: RunStage; readonly signDocument: SignDocument } {
  async function signed(invoice: Invoice, document: UnsignedDocument): Promise<Uint8Array> {
    if (scenarioOf(invoice) === 'signing-fails')
      throw new SigningFailed('The magic ICE of the test environment requests this failure.', { fault: 'requested' });
    return signerOf(invoice).sign(document, new Date());
  }

  /** When this process last reported that invoices wait for a certificate. A report for each would fill the log. */
  let reportedAt = Number.NEGATIVE_INFINITY;

  function wait(claim: Claim, error: SigningFailed): Promise<null> {
    const { invoice } = claim;
    const now = performance.now();
    if (now - reportedAt >= NO_CERTIFICATE_PAUSE_MS) {
      reportedAt = now;
      const message = 'live invoices, this one among them, wait for a signing certificate';
      report({ level: 'error', invoiceId: invoice.id, stage: 'sign', message, error });
    }
    const work = { stage: 'sign', attempts: attemptsOf(invoice), outcomeUnknown: false } as const;
    return putOff(claim, work, NO_CERTIFICATE_PAUSE_MS);
  }

  async function failed(claim: Claim, error: SigningFailed): Promise<null> {
    const { invoice } = claim;
    const { fault } = error;
    if (fault === 'no_live_certificate') return wait(claim, error);
    const attempts = attemptsOf(invoice) + 1;
    const message = `signing failed (attempt ${attempts})`;
    report({ level: 'warn', invoiceId: invoice.id, stage: 'sign', message, error });
    const delay = SIGN_SCHEDULE[invoice.environment][attempts];
    if (delay !== undefined) return putOff(claim, { stage: 'sign', attempts, outcomeUnknown: false }, delay);
    await change(claim, rejection(invoice, signingFailed(invoice, fault)));
    return null;
  }

  const signDocument: SignDocument = async (claim, document) => {
    const { invoice } = claim;
    let bytes: Uint8Array;
    try {
      bytes = await signed(invoice, document);
    } catch (error) {
      if (error instanceof SigningFailed) return failed(claim, error);
      throw error;
    }
    const xml = await documents.put(bytes, `${invoice.id}.xml`, 'application/xml');
    // From here on these bytes are the invoice: they are sent, served and hashed.
    // A live authority may be slow and must not occupy a place of signing, so transmission has a lane of its own.
    if (invoice.environment === 'live')
      return putOff(claim, { ...NEW_WORK, stage: 'transmit' }, byAge(invoice), { xml });
    const stored = await change(claim, { xml, work: next('transmit') });
    return transmitBytes(stored, async () => bytes, false);
  };

  return {
    signDocument,
    sign: async (claim) => {
      const { invoice } = claim;
      return signDocument(claim, await writer.write(legalInvoice(invoice, numberOf(invoice))));
    },
  };
}

function numberOf(invoice: Invoice): string {
  if (invoice.number === null) throw new Error(`invoice ${invoice.id} has no number after normalization`);
  return invoice.number;
}
