import { MINUTE_MS } from '../../durations.ts';
import { ServiceError } from '../../errors.ts';
import { isId } from '../../ids.ts';
import { problemsOf } from '../../input-problems.ts';
import type { Change, UseCase } from '../../use-case.ts';
import { type CreationNeeds, issueInvoice, type Repeatable } from '../create-invoice.ts';
import { type CreateInvoiceInput, createInvoiceInput } from '../create-invoice-input.ts';
import { fingerprintOf } from '../input-fingerprint.ts';
import { answerRepeated, type IssuedDocument } from '../issuing.ts';
import type { DraftStore } from './draft.ts';
import { changedMeanwhile, findOwn, issuedAs, missing, ownerOf } from './find-draft.ts';

/** How long a draft can wait for its invoice to be stored: longer than a slow store takes. */
const ISSUING_MS = MINUTE_MS / 2;

interface IssueNeeds extends CreationNeeds {
  readonly drafts: DraftStore;
}

/**
 * Issues a draft as an invoice, only once for any number of requests: the invoice's id is derived from the draft's, and
 * a repeated request is answered with that invoice. The draft is removed once the invoice is stored.
 */
export const issueDraft = {
  scope: 'issue',
  audit: { action: 'draft.issued', description: 'A draft was issued as an invoice.' },
  /**
   * @param version the version that the caller has read; no other one is issued
   * @throws {ServiceError} resource_not_found; draft_changed; draft_issued if another version was issued; the errors of
   *   `createInvoice`, with `param` in the draft's content
   */
  async run(needs: IssueNeeds, { by, record }: Change, id: string, version: number): Promise<IssuedDocument> {
    if (!isId('drf', id)) throw missing(id);
    const { drafts, invoices, invoiceIds } = needs;
    const owner = ownerOf(by);
    // A version has one content only.
    const mark = { key: id, fingerprint: fingerprintOf({ draft: id, version }) };
    const repeatable = { id: invoiceIds.ofDraft(owner, id), mark };
    const find = () => findOwn(drafts, owner, id);
    const draft = await find();
    if (draft?.version !== version) {
      const earlier = await replayed(needs, id, repeatable);
      if (earlier) return earlier;
      throw draft ? changedMeanwhile(id, draft.version, version) : missing(id);
    }
    const input = inputOf(draft.content);
    const hold = async () => {
      if (await drafts.hold(id, version, new Date(Date.now() + ISSUING_MS))) return null;
      // Somebody else has issued, changed or deleted it since it was read.
      const present = await find();
      if (present) throw changedMeanwhile(id, present.version, version);
      if (!(await invoices.findCreatedAs(repeatable.id))) throw missing(id);
      return null;
    };
    const issued = await issueInvoice(needs, by, input, repeatable, {
      insteadOf: null,
      beforeStoring: hold,
    }).catch(async (error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === 'idempotency_conflict') throw issuedAs(id, repeatable.id);
      // Nobody else can issue it either: a number that is taken is never free again.
      if (error.code === 'duplicate_number') await drafts.release(id, version);
      throw error;
    });
    await drafts.removeIssued(id, version);
    if (!issued.replayed) await record({ subject: id, details: { invoice: issued.invoice.id } });
    return issued;
  },
} as const satisfies UseCase;

/** @throws {ServiceError} invalid_request */
function inputOf(content: string): CreateInvoiceInput {
  const { success, data, error } = createInvoiceInput.safeParse(JSON.parse(content));
  if (!success) throw new ServiceError(problemsOf(error));
  return data;
}

/** Answers a repeated request; null if the draft was not issued. @throws {ServiceError} draft_issued */
async function replayed(
  needs: IssueNeeds,
  id: string,
  { id: invoiceId, mark }: Repeatable,
): Promise<IssuedDocument | null> {
  return answerRepeated(needs, { id: invoiceId, mark }).catch((error: unknown) => {
    throw error instanceof ServiceError && error.code === 'idempotency_conflict' ? issuedAs(id, invoiceId) : error;
  });
}
