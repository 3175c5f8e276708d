import { DOCUMENTS, type DocumentKind } from '../../domain/invoice/documents.ts';
import type { Invoice, StoredDocument } from '../../domain/invoice/invoice.ts';
import { DOCUMENT_WAIT_MS } from '../../domain/limits.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { payloadOf } from '../payload.ts';
import { NotFoundError } from './errors.ts';
import { addDocumentFields, CreditNoteType, InvoiceType } from './fiscal-documents.ts';

interface DocumentView {
  readonly url: string;
  readonly mediaType: string;
  readonly stored: StoredDocument | null;
}

const InvoiceDocumentType = builder.objectRef<DocumentView>('InvoiceDocument').implement({
  description: 'A document of an accepted invoice.',
  fields: (t) => ({
    url: t.exposeString('url', {
      description:
        'Download address, needs no credential: treat it as a secret. `revokeDocumentUrls` or `revokeCreditNoteDocumentUrls` replaces it.',
    }),
    mediaType: t.exposeString('mediaType', { description: '`application/xml` or `application/pdf`.' }),
    ready: t.boolean({
      description: `Whether the document is ready. Until then a request waits for it up to ${DOCUMENT_WAIT_MS / 1000} s, then gets 503.`,
      resolve: ({ stored }) => stored !== null,
    }),
    sha256: t.string({
      nullable: true,
      description: 'SHA-256 of the file, lower-case hexadecimal; null until it is ready.',
      resolve: ({ stored }) => stored?.sha256,
    }),
    size: t.int({
      nullable: true,
      description: 'Size in bytes; null until it is ready.',
      resolve: ({ stored }) => stored?.size,
    }),
  }),
});

const InvoiceDocumentsType = builder.objectRef<Invoice>('InvoiceDocuments').implement({
  description: 'The documents of an accepted invoice.',
  fields: (t) => ({
    xml: t.field({ type: InvoiceDocumentType, description: DOCUMENTS.xml.description, resolve: viewOf('xml') }),
    pdf: t.field({ type: InvoiceDocumentType, description: DOCUMENTS.pdf.description, resolve: viewOf('pdf') }),
    signedXml: t.field({
      type: InvoiceDocumentType,
      nullable: true,
      description: DOCUMENTS.signedXml.description,
      resolve: viewIfAny('signedXml'),
    }),
    receipt: t.field({
      type: InvoiceDocumentType,
      nullable: true,
      description: `${DOCUMENTS.receipt.description} Null if the authority gave none.`,
      resolve: viewIfAny('receipt'),
    }),
  }),
});

function viewOf(kind: DocumentKind) {
  return (invoice: Invoice, _args: unknown, { useCases }: GraphQLContext): DocumentView => ({
    url: useCases.documentUrl(invoice, kind),
    mediaType: DOCUMENTS[kind].mediaType,
    stored: DOCUMENTS[kind].stored(invoice),
  });
}

/** Makes the field of a document; null if it does not exist and will not be made. */
function viewIfAny(kind: DocumentKind) {
  const { stored, isComing } = DOCUMENTS[kind];
  const view = viewOf(kind);
  return (invoice: Invoice, args: unknown, context: GraphQLContext) =>
    stored(invoice) === null && !isComing(invoice) ? null : view(invoice, args, context);
}

addDocumentFields((t) => ({
  documents: t.field({
    type: InvoiceDocumentsType,
    nullable: true,
    description: 'Its documents; null until it is accepted.',
    resolve: (invoice) => (invoice.status === 'accepted' ? invoice : null),
  }),
}));

builder.mutationFields((t) => ({
  revokeDocumentUrls: t.field({
    type: payloadOf('revokeDocumentUrls', 'invoice', InvoiceType, 'The invoice with its new URLs.'),
    authScopes: accessOf('revokeDocumentUrls'),
    errors: { types: [NotFoundError] },
    description: "Invalidates the current URLs of an invoice's documents at once and creates new ones.",
    args: { id: t.arg.id({ required: true, description: 'Prefix `inv_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.revokeDocumentUrls(principal, id),
  }),
  revokeCreditNoteDocumentUrls: t.field({
    type: payloadOf('revokeCreditNoteDocumentUrls', 'creditNote', CreditNoteType, 'The credit note with its new URLs.'),
    authScopes: accessOf('revokeCreditNoteDocumentUrls'),
    errors: { types: [NotFoundError] },
    description: "Invalidates the current URLs of a credit note's documents at once and creates new ones.",
    args: { id: t.arg.id({ required: true, description: 'Prefix `crn_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.revokeCreditNoteDocumentUrls(principal, id),
  }),
}));
