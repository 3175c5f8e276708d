import type { Invoice, StoredDocument } from './invoice.ts';

interface DocumentRow {
  /** The suffix of the document's URL and of its name in the store. */
  readonly suffix: string;
  /**
   * @param kind the word for the kind of document: `KINDS.fileName`
   * @param number the legal number, in characters that a file name may have
   */
  readonly fileName: (kind: string, number: string) => string;
  readonly mediaType: string;
  readonly description: string;
  readonly stored: (invoice: Invoice) => StoredDocument | null;
  /** Whether the document does not exist yet but will, so that a request waits for it. */
  readonly isComing: (invoice: Invoice) => boolean;
}

/** The documents of an accepted invoice (docs/decisions/0017, 0042). */
export const DOCUMENTS = {
  xml: {
    suffix: 'xml',
    fileName: (kind, number) => `${kind}-${number}.xml`,
    mediaType: 'application/xml',
    description:
      'The legal UBL invoice: the one that the tax authority returned, if it returns one, otherwise the signed one.',
    stored: legalXml,
    isComing: ({ awaitsCleared }) => awaitsCleared,
  },
  pdf: {
    suffix: 'pdf',
    fileName: (kind, number) => `${kind}-${number}.pdf`,
    mediaType: 'application/pdf',
    description: 'The signed PDF with the XML embedded.',
    stored: ({ pdf }) => pdf,
    isComing: ({ pdf }) => pdf === null,
  },
  signedXml: {
    suffix: 'signed.xml',
    fileName: (kind, number) => `${kind}-${number}-transmise.xml`,
    mediaType: 'application/xml',
    description: 'The UBL invoice as the service signed it and sent it to the tax authority.',
    stored: ({ xml }) => xml,
    isComing: () => false,
  },
  receipt: {
    suffix: 'receipt.xml',
    fileName: (_, number) => `recu-${number}.xml`,
    mediaType: 'application/xml',
    description:
      'The receipt of the tax authority: its signed statement about its decision, which the service has verified.',
    stored: ({ receipt }) => receipt,
    isComing: ({ receipt, work }) => receipt === null && work?.stage === 'receipt',
  },
} as const satisfies Readonly<Record<string, DocumentRow>>;

/** A field of an invoice that refers to a stored document. */
export type DocumentField = {
  [Field in keyof Invoice]: NonNullable<Invoice[Field]> extends StoredDocument ? Field : never;
}[keyof Invoice];

/**
 * All fields that refer to documents. Files of the store that none of them names are removed, so the compiler requires
 * each field here.
 */
const IS_DOCUMENT_FIELD: Readonly<Record<DocumentField, true>> = { xml: true, pdf: true, receipt: true, cleared: true };
export const DOCUMENT_FIELDS = Object.keys(IS_DOCUMENT_FIELD) as DocumentField[];

export type DocumentKind = keyof typeof DOCUMENTS;
export const DOCUMENT_KINDS = Object.keys(DOCUMENTS) as DocumentKind[];

/**
 * Returns the legal document of an invoice: the one that the authority returned, if it returns one, otherwise the one
 * that was sent. Null while it does not exist.
 */
export function legalXml({
  cleared,
  awaitsCleared,
  xml,
}: Pick<Invoice, 'cleared' | 'awaitsCleared' | 'xml'>): StoredDocument | null {
  return cleared ?? (awaitsCleared ? null : xml);
}
