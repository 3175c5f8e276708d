import { HOUR_MS } from '../../durations.ts';
import { serviceError } from '../../errors.ts';
import { isId, newId } from '../../ids.ts';
import { MAX_DRAFTS } from '../../limits.ts';
import { newCreationMoment } from '../../order-key.ts';
import { type Page, type PageSpan, placeInList } from '../../page.ts';
import { actorOf, type Member } from '../../principal.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Call, Change, UseCase } from '../../use-case.ts';
import { type InvoiceValidation, validateInvoice } from '../validate-invoice.ts';
import type { Draft, DraftStore } from './draft.ts';
import { contentText } from './draft-content.ts';

interface DraftNeeds {
  readonly drafts: DraftStore;
}

/**
 * The drafts of the caller's tenant and environment.
 * @throws {ServiceError} resource_not_found for a draft that is unknown or belongs to another tenant or environment
 */
export const DRAFT_USE_CASES = {
  /**
   * @param content any object up to `CONTENT_LIMITS`
   * @throws {ServiceError} invalid_request; draft_limit_reached, which requests at the same moment may miss
   */
  createDraft: {
    scope: 'issue',
    audit: { action: 'draft.created', description: 'A draft of an invoice was created.' },
    async run({ drafts }: DraftNeeds, { by, record }: Change, content: unknown): Promise<Draft> {
      const text = contentText(content);
      const owner = ownerOf(by);
      if ((await drafts.count(owner, MAX_DRAFTS)) === MAX_DRAFTS) {
        const message = `There are already ${MAX_DRAFTS} drafts in the ${owner.environment} environment, which is the maximum. Issue or delete some first.`;
        throw serviceError('draft_limit_reached', message);
      }
      const { createdAt, order } = newCreationMoment();
      const made = { id: newId('drf'), ...owner, order, createdAt };
      const draft = await drafts.insert({
        ...made,
        version: 1,
        content: text,
        updatedAt: createdAt,
        updatedBy: actorOf(by),
      });
      await record({ subject: draft.id });
      return draft;
    },
  },

  draft: { scope: 'read', run: ({ drafts }: DraftNeeds, { by }: Call, id: string) => ownDraft(drafts, by, id) },

  /** Newest first. @throws {ServiceError} invalid_request for an invalid page request */
  drafts: {
    scope: 'read',
    async run(
      { drafts }: DraftNeeds,
      { by }: Call,
      { maxBytes, ...span }: PageSpan & { readonly maxBytes: number },
    ): Promise<Page<Draft>> {
      const owner = ownerOf(by);
      const place = await placeInList(span, (id) => findOwn(drafts, owner, id));
      return drafts.page({ ...owner, ...place, from: null, until: null, maxBytes });
    },
  },

  /** What keeps a draft of the caller from being issued now, its warnings and totals. */
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
    scope: 'issue',
    audit: { action: 'draft.updated', description: 'Somebody changed the content of a draft.' },
    async run(
      { drafts }: DraftNeeds,
      { by, record }: Change,
      id: string,
      version: number,
      content: unknown,
    ): Promise<Draft> {
      const text = contentText(content);
      const present = await ownDraft(drafts, by, id);
      if (present.content === text) return present;
      const updatedAt = new Date();
      const updatedBy = actorOf(by);
      const change = { version: version + 1, content: text, updatedAt, updatedBy };
      const changed = present.version === version ? await drafts.change(id, version, change) : null;
      if (!changed) throw changedMeanwhile(await ownDraft(drafts, by, id), version);
      // One entry stands for all changes that the same person makes one after the other: pages save while they type.
      const isNew = present.updatedBy.id !== updatedBy.id || +updatedAt - +present.updatedAt > HOUR_MS;
      if (isNew) await record({ subject: id });
      return changed;
    },
  },

  /** @param version as of `updateDraft` @throws {ServiceError} draft_changed */
  deleteDraft: {
    scope: 'issue',
    audit: { action: 'draft.deleted', description: 'A draft was deleted.' },
    async run({ drafts }: DraftNeeds, { by, record }: Change, id: string, version: number): Promise<void> {
      const present = await ownDraft(drafts, by, id);
      const removed = present.version === version && (await drafts.remove(id, version));
      if (!removed) throw changedMeanwhile(await ownDraft(drafts, by, id), version);
      await record({ subject: id });
    },
  },
} as const satisfies Readonly<Record<string, UseCase>>;

function ownerOf({ tenant, environment }: Member): Owner {
  return { tenantId: tenant.id, environment };
}

async function findOwn(drafts: DraftStore, { tenantId, environment }: Owner, id: string): Promise<Draft | null> {
  const found = isId('drf', id) ? await drafts.find(id) : null;
  return found?.tenantId === tenantId && found.environment === environment ? found : null;
}

/** @throws {ServiceError} resource_not_found */
async function ownDraft(drafts: DraftStore, by: Member, id: string): Promise<Draft> {
  const found = await findOwn(drafts, ownerOf(by), id);
  if (found) return found;
  const message = `There is no draft '${id.slice(0, 80)}' in this tenant and environment.`;
  throw serviceError('resource_not_found', message, 'id');
}

function changedMeanwhile({ id, version: present }: Draft, version: number) {
  const message = `Draft ${id} has version ${present}, not ${version}: it was changed meanwhile. Read it again.`;
  return serviceError('draft_changed', message, 'version');
}
