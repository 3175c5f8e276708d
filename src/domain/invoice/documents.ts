import type { Invoice, StoredDocument } from './invoice.ts';

interface DocumentRow {
  /** The end of its URL and of its file names. */
  readonly suffix: string;
  readonly mediaType: string;
  readonly description: string;
  readonly stored: (invoice: Invoice) => StoredDocument | null;
  /** Whether it does not exist yet, and will: a request waits for it. */
  readonly isComing: (invoice: Invoice) => boolean;
}

/** The documents of an accepted invoice (docs/decisions/0017, 0042). */
export const DOCUMENTS = {
  xml: {
    suffix: 'xml',
    mediaType: 'application/xml',
    description:
      'The legal UBL invoice: the one that the tax authority returned, if it returns one, otherwise the signed one.',
    stored: legalXml,
    isComing: ({ awaitsCleared }) => awaitsCleared,
  },
  pdf: {
    suffix: 'pdf',
    mediaType: 'application/pdf',
    description: 'The signed PDF with the XML embedded.',
    stored: ({ pdf }) => pdf,
    isComing: ({ pdf }) => pdf === null,
  },
  signedXml: {
    suffix: 'signed.xml',
    mediaType: 'application/xml',
    description: 'The UBL invoice as the service signed it and sent it to the tax authority.',
    stored: ({ xml }) => xml,
    isComing: () => false,
  },
  receipt: {
    suffix: 'receipt.xml',
    mediaType: 'application/xml',
    description:
      'The receipt of the tax authority: its signed statement about its decision, which the service has verified.',
    stored: ({ receipt }) => receipt,
    isComing: ({ receipt, work }) => receipt === null && work?.stage === 'receipt',
  },
} as const satisfies Readonly<Record<string, DocumentRow>>;

export type DocumentKind = keyof typeof DOCUMENTS;
export const DOCUMENT_KINDS = Object.keys(DOCUMENTS) as DocumentKind[];

/**
 * The legal document of an invoice: the one that the authority returned, if it returns one, otherwise the one that was
 * sent. Null while it does not exist.
 */
export function legalXml({ cleared, awaitsCleared, xml }: Invoice): StoredDocument | null {
  return cleared ?? (awaitsCleared ? null : xml);
}
