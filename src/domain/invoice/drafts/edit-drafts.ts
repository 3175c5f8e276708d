import { HOUR_MS } from '../../durations.ts';
import { serviceError } from '../../errors.ts';
import { newId } from '../../ids.ts';
import { MAX_DRAFTS } from '../../limits.ts';
import { newCreationMoment } from '../../order-key.ts';
import { type Page, type PageSpan, placeInList } from '../../page.ts';
import { actorOf } from '../../principal.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Call, Change, UseCase } from '../../use-case.ts';
import { type InvoiceValidation, validateInvoice } from '../validate-invoice.ts';
import type { Draft } from './draft.ts';
import { contentText } from './draft-content.ts';
import { type DraftNeeds, findOwn, issuedAmong, ownDraft, ownerOf, requireUnchanged } from './find-draft.ts';
import { issueDraft } from './issue-draft.ts';
import { draftPreview } from './preview-draft.ts';

/**
 * The drafts of the caller's tenant and environment.
 * @throws {ServiceError} resource_not_found for a draft that is unknown or belongs to another tenant or environment;
 *   draft_issued for a draft that is already an invoice
 */
export const DRAFT_USE_CASES = {
  /**
   * @param content any object up to `CONTENT_LIMITS`
   * @throws {ServiceError} invalid_request; draft_limit_reached, near the limit perhaps for more concurrent requests
   *   than necessary
   */
  createDraft: {
    scope: 'draft',
    audit: { action: 'draft.created', description: 'A draft of an invoice was created.' },
    async run({ drafts }: DraftNeeds, { by, record }: Change, content: unknown): Promise<Draft> {
      const text = contentText(content);
      const owner = ownerOf(by);
      if ((await drafts.count(owner, MAX_DRAFTS)) === MAX_DRAFTS) throw limitReached(owner);
      const { createdAt, order } = newCreationMoment();
      const made = { id: newId('drf'), ...owner, order, createdAt };
      const draft = await drafts.insert({
        ...made,
        version: 1,
        content: text,
        updatedAt: createdAt,
        updatedBy: actorOf(by),
        issuingUntil: null,
      });
      // Others may have come between the first count and the insertion.
      if ((await drafts.count(owner, MAX_DRAFTS + 1)) > MAX_DRAFTS) {
        await drafts.remove(draft);
        throw limitReached(owner);
      }
      await record({ subject: draft.id });
      return draft;
    },
  },

  draft: { scope: 'read', run: (needs: DraftNeeds, { by }: Call, id: string) => ownDraft(needs, by, id) },

  /** Newest first. @throws {ServiceError} invalid_request for an invalid page request */
  drafts: {
    scope: 'read',
    async run(
      needs: DraftNeeds,
      { by }: Call,
      { maxBytes, ...span }: PageSpan & { readonly maxBytes: number },
    ): Promise<Page<Draft>> {
      const { drafts } = needs;
      const owner = ownerOf(by);
      const place = await placeInList(span, (id) => findOwn(drafts, owner, id));
      for (;;) {
        const page = await drafts.page({ ...owner, ...place, from: null, until: null, maxBytes });
        const held = page.rows.filter(({ issuingUntil }) => issuingUntil !== null);
        const issued =
          held.length > 0
            ? await issuedAmong(
                needs,
                owner,
                held.map(({ id }) => id),
              )
            : [];
        if (issued.length === 0) return page;
        // They were not removed because a process died, or they are being removed now.
        for (const { id, version } of held)
          if (issued.some((each) => each.id === id)) await drafts.removeIssued(id, version);
      }
    },
  },

  /** Returns the problems that prevent a draft of the caller from being issued now, its warnings and totals. */
  draftValidation: {
    scope: 'read',
    run: (
      needs: Parameters<typeof validateInvoice.run>[0],
      { by }: Call,
      { content }: Pick<Draft, 'content'>,
    ): Promise<InvoiceValidation> => validateInvoice.run(needs, { by }, JSON.parse(content)),
  },

  /**
   * Replaces the content. The same content again changes nothing, so a repeated request is answered like the first one.
   * @param version the version that the caller has read
   * @throws {ServiceError} invalid_request; draft_changed if the draft has another version and another content
   */
  updateDraft: {
    scope: 'draft',
    audit: { action: 'draft.updated', description: 'Somebody changed the content of a draft.' },
    async run(
      needs: DraftNeeds,
      { by, record }: Change,
      id: string,
      version: number,
      content: unknown,
    ): Promise<Draft> {
      const text = contentText(content);
      for (;;) {
        const present = await ownDraft(needs, by, id);
        if (present.content === text) return present;
        requireUnchanged(present, version);
        const updatedAt = new Date();
        const updatedBy = actorOf(by);
        const change = { version: version + 1, content: text, updatedAt, updatedBy };
        const changed = await needs.drafts.change(present, change);
        // Somebody else has changed it since it was read: the next round says what.
        if (!changed) continue;
        // One entry stands for all changes that the same person makes one after the other: pages save while they type.
        const isNew = present.updatedBy.id !== updatedBy.id || +updatedAt - +present.updatedAt > HOUR_MS;
        if (isNew) await record({ subject: id });
        return changed;
      }
    },
  },

  /** @param version as of `updateDraft` @throws {ServiceError} draft_changed */
  deleteDraft: {
    scope: 'draft',
    audit: { action: 'draft.deleted', description: 'A draft was deleted.' },
    async run(needs: DraftNeeds, { by, record }: Change, id: string, version: number): Promise<void> {
      for (;;) {
        const present = await ownDraft(needs, by, id);
        requireUnchanged(present, version);
        if (await needs.drafts.remove(present)) return record({ subject: id });
      }
    },
  },

  draftPreview,
  issueDraft,
} as const satisfies Readonly<Record<string, UseCase>>;

function limitReached({ environment }: Owner) {
  const message = `There are already ${MAX_DRAFTS} drafts in the ${environment} environment, which is the maximum. Issue or delete some first.`;
  return serviceError('draft_limit_reached', message);
}
