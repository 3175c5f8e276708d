import { z } from 'zod';
import { ServiceError, serviceError } from '../errors.ts';
import { problemsOf } from '../input-problems.ts';
import type { Member } from '../principal.ts';
import type { Change, UseCase } from '../use-case.ts';
import { type CreationNeeds, issueInvoice, repeatableOf } from './create-invoice.ts';
import type { CreateInvoiceInput } from './create-invoice-input.ts';
import type { CreditReason } from './credit.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import { REASON } from './credit-reason-input.ts';
import { creditReplaced } from './credit-replaced.ts';
import { findOwnInvoice } from './find-own-invoice.ts';
import type { Invoice } from './invoice.ts';
import { numberProblem } from './invoice-rules.ts';
import { answerRepeated, asCreated, type IssuedDocument } from './issuing.ts';
import { isFinal } from './lifecycle.ts';
import { linkReplacement, refuseReplaced, unlinkReplacement } from './link-replacement.ts';
import { type NumberedInvoice, originalOf } from './original.ts';
import { CREATED, recordCreation } from './record-creation.ts';
import type { Replaces } from './replacement.ts';
import type { InvoiceReading } from './repository.ts';
import { giveBack, takeRest, type Untaken } from './take-credit.ts';

/** Why an invoice is replaced. */
export interface ReplacementReason {
  readonly reason: CreditReason;
  /** The reason in words. */
  readonly note?: string | null | undefined;
}

const reasonInput = z.strictObject(REASON);

interface ReplacementNeeds extends CreationNeeds {
  readonly invoices: CreationNeeds['invoices'] & Pick<InvoiceReading, 'find'> & CreditKeeping;
}

export interface Replacement extends IssuedDocument {
  /** The credit note of what was left of the accepted invoice; null if there was nothing to credit. */
  readonly creditNote: { readonly invoice: Invoice; readonly clientSecret: string } | null;
}

/**
 * Replaces an accepted or rejected invoice by a corrected one. The rest of an accepted invoice is credited in the same
 * act, and the corrected invoice waits until that credit note is accepted. The insertion of the corrected invoice
 * decides: it names its credit note, which is stored right after, at the latest by the pipeline. So in the end both
 * exist, or neither does.
 *
 * A rejected correction can itself be replaced: then the rest of the accepted invoice behind it is credited.
 */
export const replaceInvoice = {
  scope: 'issue',
  audit: CREATED.invoice,
  /**
   * @param input of the corrected invoice, as of `createInvoice`
   * @param idempotencyKey as of `createInvoice`, in the same space: one key for both documents
   * @throws {ServiceError} as `createInvoice`; resource_not_found, invoice_not_replaceable, credit_exceeds_invoice
   */
  async run(
    needs: ReplacementNeeds,
    call: Change,
    invoiceId: string,
    input: CreateInvoiceInput,
    stated: ReplacementReason,
    idempotencyKey: string | null,
  ): Promise<Replacement> {
    const { by: owner } = call;
    const checked = reasonInput.safeParse(stated);
    if (!checked.success) throw new ServiceError(problemsOf(checked.error));
    const { reason, note } = checked.data;
    const why = { reason, note: note?.trim() || null };
    const repeatable = repeatableOf(needs.invoiceIds, owner, idempotencyKey, { invoiceId, input, ...why });
    const undo: Undo[] = [];
    const issued =
      (repeatable && (await answerRepeated(needs, repeatable))) ??
      (await issueInvoice(needs, owner, input, repeatable, {
        insteadOf: input.deposits ? acceptedOf(await replaceable(needs.invoices, owner, invoiceId)) : null,
        beforeStoring: async (id) => {
          const taken = await numberProblem(needs.invoices, owner, input.number);
          // Not if a request with the same key has stored the invoice meanwhile: the insertion finds it.
          const repeated = taken && repeatable && (await needs.invoices.findCreatedAs(id));
          if (taken && !repeated) throw new ServiceError([taken]);
          return { ...(await prepare(needs, owner, invoiceId, id, undo)), ...why };
        },
      }).catch(async (error: unknown) => {
        // After any other error the invoice may be stored nevertheless. Shares and links that cannot be taken back
        // count for five minutes.
        if (error instanceof ServiceError) for (const each of undo) await each().catch(() => undefined);
        throw error;
      }));
    await recordCreation(call, issued, { replaces: invoiceId });
    if (!issued.invoice.replaces?.credited?.creditNoteId) return { ...issued, creditNote: null };
    const creditNote = await creditReplaced(needs, issued.invoice, () => new Date());
    if (creditNote === null) return { ...issued, creditNote };
    const clientSecret = needs.clientSecrets.issue(creditNote.id);
    return { ...issued, creditNote: { invoice: asCreated(creditNote), clientSecret } };
  },
} as const satisfies UseCase;

/** Takes back the share or link that was prepared for an invoice that is not stored. */
type Undo = () => Promise<void>;

/**
 * Takes the rest of the accepted invoice, and links the replaced invoice to the new one. A replacement that is not
 * possible is refused before anything is taken.
 * @param id the new invoice
 * @param undo receives the functions that take each of the two back
 */
async function prepare(
  { invoices, invoiceIds }: ReplacementNeeds,
  owner: Member,
  invoiceId: string,
  id: string,
  undo: Undo[],
): Promise<Pick<Replaces, 'invoice' | 'credited'>> {
  const now = () => new Date();
  const read = () => replaceable(invoices, owner, invoiceId);
  const replaced = await read();
  await refuseReplaced(invoices, replaced, id, now());
  const accepted = acceptedOf(replaced);
  let credited: Replaces['credited'] = null;
  if (accepted !== null) {
    const creditNoteId = invoiceIds.ofReplacement(replaced, id);
    const find = async () => (await findOwnInvoice(invoices, owner, accepted)) as NumberedInvoice;
    const share = { creditNoteId, replacingId: id };
    const taken = await takeRest(invoices, find, share, now);
    if ('why' in taken && taken.why !== 'nothing_left') throw notReplaceable(accepted, taken);
    if ('kept' in taken) undo.push(() => giveBack(invoices, taken, share));
    credited = { invoiceId: accepted, creditNoteId: 'kept' in taken ? creditNoteId : null };
  }
  undo.push(() => unlinkReplacement(invoices, invoiceId, id));
  await linkReplacement(invoices, read, id, now);
  return { invoice: originalOf(replaced), credited };
}

/** Returns the accepted invoice that is credited if this one is replaced; null if there is none. */
function acceptedOf({ id, status, replaces }: Invoice): string | null {
  return status === 'accepted' ? id : (replaces?.credited?.invoiceId ?? null);
}

/** Says why the rest of the accepted invoice is not known. */
function notReplaceable(accepted: string, untaken: Exclude<Untaken, { why: 'nothing_left' }>) {
  if (untaken.why === 'deducted')
    return serviceError(
      'invoice_not_replaceable',
      `Deposit invoice ${accepted} is deducted in invoice ${untaken.finalId}, or about to be. Replace or credit that one first.`,
      'invoiceId',
    );
  const { why, creditNoteId } = untaken;
  const message =
    why === 'undecided'
      ? `The tax authority has not decided about credit note ${creditNoteId} of invoice ${accepted}. Wait for its decision, then send the request again.`
      : `The operator ended credit note ${creditNoteId} of invoice ${accepted}, because the tax authority holds another document under its id. The invoice may be credited by that one or not, so it cannot be replaced.`;
  return serviceError('invoice_not_replaceable', message, 'invoiceId');
}

/** Finds an invoice that can be replaced. @throws {ServiceError} resource_not_found, invoice_not_replaceable */
async function replaceable(invoices: Pick<InvoiceReading, 'find'>, owner: Member, invoiceId: string): Promise<Invoice> {
  const invoice = await findOwnInvoice(invoices, owner, invoiceId);
  if (isFinal(invoice.status)) return invoice;
  const message = `Invoice ${invoiceId} is ${invoice.status}. Only an accepted or a rejected invoice can be replaced.`;
  throw serviceError('invoice_not_replaceable', message, 'invoiceId');
}
