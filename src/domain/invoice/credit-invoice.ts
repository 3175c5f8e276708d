import { z } from 'zod';
import { serviceError } from '../errors.ts';
import { expected } from '../input-problems.ts';
import type { Member } from '../principal.ts';
import { filledText } from '../printable-text.ts';
import type { Change, UseCase } from '../use-case.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import { REASON } from './credit-reason-input.ts';
import type { CreditRequest } from './credit-share.ts';
import { centimes, decimalQuantity, LIMITS, metadata, quantity, taxRate } from './field-input.ts';
import { findOwnInvoice } from './find-own-invoice.ts';
import { type CreditNoteNeeds, issueCreditNote } from './issue-credit-note.ts';
import type { IssuedDocument } from './issuing.ts';
import { isAccepted, type NumberedInvoice, originalOf } from './original.ts';
import { CREATED, recordCreation } from './record-creation.ts';
import type { InvoiceCreation, InvoiceReading } from './repository.ts';
import { giveBack, takeCredit } from './take-credit.ts';

/** The structure of the input of `creditInvoice`; a violation is a 400. */
export const creditInvoiceInput = z
  .strictObject({
    ...REASON,
    lines: z
      .array(z.strictObject({ line: quantity, quantity: decimalQuantity }), { error: expected('a list of lines') })
      .min(1, { error: 'is empty: at least one item is expected' })
      .max(LIMITS.lines, { error: `has too many items: at most ${LIMITS.lines}` })
      .nullish(),
    amounts: z
      .array(
        z.strictObject({
          taxRate,
          net: centimes,
          description: filledText(LIMITS.description, 'the designation, a string').nullish(),
        }),
        { error: expected('a list of amounts') },
      )
      .min(1, { error: 'is empty: at least one item is expected' })
      .max(LIMITS.lines, { error: `has too many items: at most ${LIMITS.lines}` })
      .nullish(),
    metadata,
  })
  .refine(({ lines, amounts }) => lines == null || amounts == null, {
    path: ['amounts'],
    error: 'cannot be combined with lines',
  });
export type CreditInvoiceInput = z.output<typeof creditInvoiceInput>;

interface CreditNeeds extends CreditNoteNeeds {
  readonly invoices: InvoiceCreation & Pick<InvoiceReading, 'find'> & CreditKeeping;
}

/**
 * Credits an accepted invoice: the rest of it, chosen lines, or amounts at rates of VAT. Returns before any processing;
 * the credit note passes through the same stages as an invoice. Together the credit notes of an invoice that are not
 * rejected never exceed it, in all and at each rate.
 */
export const creditInvoice = {
  scope: 'issue',
  audit: CREATED.credit_note,
  /**
   * @param input structurally valid: the output of {@link creditInvoiceInput}
   * @param idempotencyKey as for `createInvoice`; keys of credit notes are independent of those of invoices
   * @throws {ServiceError} insufficient_scope, invalid_request, resource_not_found, invoice_not_accepted,
   *   credit_exceeds_invoice, idempotency_conflict; internal_error (503) if the settings do not allow live documents
   */
  async run(
    needs: CreditNeeds,
    call: Change,
    invoiceId: string,
    input: CreditInvoiceInput,
    idempotencyKey: string | null,
  ): Promise<IssuedDocument> {
    const { by: owner } = call;
    const { reason, note, metadata } = input;
    const { invoices } = needs;
    let undo = async () => {};
    const issued = await issueCreditNote(needs, owner, idempotencyKey, { invoiceId, ...input }, async (id) => {
      const find = () => creditable(invoices, owner, invoiceId);
      const taken = await takeCredit(invoices, find, id, requestOf(input, owner), () => new Date());
      undo = () => giveBack(invoices, taken, { creditNoteId: id });
      const { original, lines, share } = taken;
      const { currency, customer } = original;
      const credit = { ...share, original: originalOf(original), reason, note: note?.trim() || null };
      return { currency, customer, lines, metadata, credit };
    }).catch(async (error: unknown) => {
      // A share that cannot be given back counts for five minutes.
      await undo().catch(() => undefined);
      throw error;
    });
    await recordCreation(call, issued);
    return issued;
  },
} as const satisfies UseCase;

/** Finds an invoice that can be credited. @throws {ServiceError} resource_not_found, invoice_not_accepted */
export async function creditable(
  invoices: Pick<InvoiceReading, 'find'>,
  owner: Member,
  invoiceId: string,
): Promise<NumberedInvoice> {
  const invoice = await findOwnInvoice(invoices, owner, invoiceId);
  if (isAccepted(invoice)) return invoice;
  const message = `Invoice ${invoiceId} is ${invoice.status}. Only an accepted invoice can be credited.`;
  throw serviceError('invoice_not_accepted', message, 'invoiceId');
}

/** Returns the credit that a valid input requests, in the language of the seller's documents. */
export function requestOf({ lines, amounts }: CreditInvoiceInput, { tenant }: Member): CreditRequest {
  const language = tenant.profile.documentLanguage;
  if (lines != null) return { kind: 'lines', lines, language };
  return amounts == null ? { kind: 'rest', language } : { kind: 'amounts', amounts, language };
}
