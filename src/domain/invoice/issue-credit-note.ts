import { currentActivity } from '../activity.ts';
import { ServiceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { newCreationMoment } from '../order-key.ts';
import type { Member } from '../principal.ts';
import { idempotencyKeyProblem } from './create-invoice-input.ts';
import type { Credit } from './credit.ts';
import { fingerprintOf } from './input-fingerprint.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceIds } from './invoice-ids.ts';
import {
  answerRepeated,
  type IssuedDocument,
  type IssuingNeeds,
  issuerOf,
  newDocument,
  requireMeans,
  storeDocument,
} from './issuing.ts';
import { NO_TERMS } from './terms.ts';

/** The ports that every creation of a credit note needs. */
export interface CreditNoteNeeds extends IssuingNeeds {
  readonly invoiceIds: InvoiceIds;
}

/** The content that is specific to one credit note. */
export interface CreditNoteContent extends Pick<Invoice, 'customer' | 'lines' | 'currency' | 'metadata'> {
  readonly credit: Credit;
}

/**
 * Creates a credit note, or answers a repeated request.
 * @param idempotencyKey as for `createInvoice`; keys of credit notes are independent of those of invoices
 * @param input the complete request, which a repeated request must equal
 * @param make determines the content of the credit note with this id; not called for a repeated request
 * @throws {ServiceError} invalid_request (the key), idempotency_conflict, the errors of `make`; internal_error (503) if
 *   the settings do not allow live documents
 */
export async function issueCreditNote(
  needs: CreditNoteNeeds,
  owner: Member,
  idempotencyKey: string | null,
  input: object,
  make: (id: string) => Promise<CreditNoteContent>,
): Promise<IssuedDocument> {
  const unusable = idempotencyKey === null ? null : idempotencyKeyProblem(idempotencyKey);
  if (unusable) throw new ServiceError([unusable]);
  const mine = { tenantId: owner.tenant.id, environment: owner.environment };
  const { createdAt, order } = newCreationMoment();
  const id = idempotencyKey === null ? newId('crn') : needs.invoiceIds.ofKey(mine, idempotencyKey, 'credit_note');
  const activity = currentActivity();
  if (activity) activity.invoiceId = id;
  const mark = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(input) };
  const earlier = mark && (await answerRepeated(needs, { id, mark }));
  if (earlier) return earlier;
  await requireMeans(needs, owner, null, 'credit_note');
  const { credit, ...content } = await make(id);
  const note = newDocument(issuerOf(owner), {
    ...content,
    id,
    kind: 'credit_note',
    amount: credit.amount,
    discount: null,
    charge: null,
    ownNumber: null,
    terms: NO_TERMS,
    credit,
    replaces: null,
    createdAt,
    traceparent: activity?.span?.traceparent ?? null,
  });
  return storeDocument(needs, note, order, mark);
}
