import { valueFromASTUntyped } from 'graphql';
import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { CONTENT_LIMITS, type Draft } from '../../domain/invoice/drafts/draft.ts';
import { MAX_DRAFTS } from '../../domain/limits.ts';
import { PREVIEW_BYTES } from '../../domain/preview.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder } from '../builder.ts';
import { payloadOf } from '../payload.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { AuditActorType } from './audit-entry.ts';
import { ConflictError, InvalidInputError, LimitReachedError, NotFoundError } from './errors.ts';
import { createdInvoice } from './invoice.ts';
import { InvoiceValidationType } from './invoice-validation.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import { notThenable } from './scalars.ts';

builder.scalarType('DraftContent', {
  description: `What is typed of an invoice: a JSON object with members of \`InvoiceDraft\`, any of them, with any values, such as a text where a number belongs. At most ${CONTENT_LIMITS.bytes / 1024} KiB, and ${CONTENT_LIMITS.depth} levels of objects and lists.`,
  serialize: (content) => content as object,
  // The use case refuses with a typed error.
  parseValue: (content) => content,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});

const DraftType = builder.objectRef<Draft>('Draft').implement({
  description:
    'An invoice that is being written. It takes whatever is typed, has no number, is never transmitted, and has no end.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `drf_`.' }),
    version: t.exposeInt('version', {
      description: '1 at the creation, and one more after each change. A change states the version that was read.',
    }),
    content: t.field({
      type: 'DraftContent',
      description: 'What was typed, as it was sent.',
      resolve: ({ content }) => notThenable(JSON.parse(content) as object),
    }),
    validation: t.field({
      type: InvoiceValidationType,
      description: 'All that keeps it from being issued now, and all warnings: what `validateInvoice` answers of it.',
      resolve: (draft, _args, { principal, useCases }) => useCases.draftValidation(principal, draft),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Time of the last change.' }),
    updatedBy: t.expose('updatedBy', { type: AuditActorType, description: 'Who changed it last.' }),
  }),
});

findableAsNode({
  prefix: 'drf',
  type: 'Draft',
  find: (id, _clientSecret, { principal, useCases }) => useCases.draft(principal, id),
});

const DraftConnection = builder.connectionObject({ type: DraftType, name: 'DraftConnection' });

builder.queryFields((t) => ({
  draft: t.field({
    type: DraftType,
    authScopes: accessOf('draft'),
    description: 'The draft with this id.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `drf_`.' }) },
    resolve: async (_root, { id }, { principal, useCases, meter }) => {
      await meter?.hold(INVOICE_BYTES);
      return useCases.draft(principal, id);
    },
  }),
  draftPreview: t.string({
    authScopes: accessOf('draftPreview'),
    description:
      'The PDF of the draft as a data URL, marked as a draft: no number, no signature, no address to verify. A missing text is a dash, a missing number is 0; so is what is not valid. One at a time.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `drf_`.' }) },
    resolve: async (_root, { id }, { principal, useCases, meter }) => {
      await meter?.hold(PREVIEW_BYTES);
      return useCases.draftPreview(principal, id);
    },
  }),
  drafts: t.connection(
    {
      type: DraftType,
      authScopes: accessOf('drafts'),
      description: `The drafts of the secret key’s tenant and environment, newest first: at most ${MAX_DRAFTS}. Issued ones are invoices.`,
      resolve: async (_root, args, { principal, useCases, meter }) => {
        const asked = pageRequest(args);
        const page = await searchMetered(meter, asked.limit * INVOICE_BYTES, (maxBytes) =>
          useCases.drafts(principal, { ...asked, maxBytes }),
        );
        return connectionOf(page, args);
      },
    },
    DraftConnection,
  ),
}));

const DeleteDraftPayload = builder.objectRef<{ id: string }>('DeleteDraftPayload').implement({
  description: 'A deleted draft.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Id of the deleted draft.' }) }),
});

const VERSION = 'The version that you have read. If the draft has another one meanwhile: `draft_changed`.';

builder.mutationFields((t) => ({
  createDraft: t.field({
    type: payloadOf('createDraft', 'draft', DraftType, 'The draft.'),
    authScopes: accessOf('createDraft'),
    errors: { types: [InvalidInputError, LimitReachedError] },
    description: `Keeps an unfinished invoice: at most ${MAX_DRAFTS} for each tenant and environment. For secret keys, and people who may invoice.`,
    args: { content: t.arg({ type: 'DraftContent', required: true, description: 'What is typed so far.' }) },
    resolve: (_root, { content }, { principal, useCases }) => useCases.createDraft(principal, content),
  }),
  updateDraft: t.field({
    type: payloadOf('updateDraft', 'draft', DraftType, 'The changed draft.'),
    authScopes: accessOf('updateDraft'),
    errors: { types: [InvalidInputError, NotFoundError, ConflictError] },
    description:
      'Replaces the content of a draft. A repeated request changes nothing and is answered with the draft. For secret keys, and people who may invoice.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `drf_`.' }),
      version: t.arg.int({ required: true, description: VERSION }),
      content: t.arg({ type: 'DraftContent', required: true, description: 'The whole new content.' }),
    },
    resolve: (_root, { id, version, content }, { principal, useCases }) =>
      useCases.updateDraft(principal, id, version, content),
  }),
  issueDraft: t.field({
    type: createdInvoice('IssueDraftPayload', 'to issue the draft'),
    authScopes: accessOf('issueDraft'),
    errors: { types: [InvalidInputError, NotFoundError, ConflictError] },
    description:
      'Creates the invoice that the draft is, like `createInvoice`, and removes the draft. A draft is issued once: a repeated request is answered with its invoice. For secret keys, and people who may invoice.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `drf_`.' }),
      version: t.arg.int({ required: true, description: VERSION }),
    },
    resolve: (_root, { id, version }, { principal, useCases }) => useCases.issueDraft(principal, id, version),
  }),
  deleteDraft: t.field({
    type: DeleteDraftPayload,
    authScopes: accessOf('deleteDraft'),
    errors: { types: [NotFoundError, ConflictError] },
    description: 'Deletes a draft permanently. For secret keys, and people who may invoice.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `drf_`.' }),
      version: t.arg.int({ required: true, description: VERSION }),
    },
    resolve: async (_root, { id, version }, { principal, useCases }) => {
      await useCases.deleteDraft(principal, id, version);
      return { id };
    },
  }),
}));
