import type { DocumentLanguage } from '../domain/document-language.ts';
import type { Verdict } from '../domain/imports/import.ts';
import type { InvoiceStatus } from '../domain/invoice/lifecycle.ts';

type Texts = Readonly<Record<Verdict | InvoiceStatus, string>>;

/** What became of an invoice of a file, in the column of a returned file. */
export const IMPORT_VERDICTS: Readonly<Record<DocumentLanguage, Texts>> = {
  fr: {
    ready: 'Prête à émettre',
    faulty: 'À corriger',
    known: 'Déjà émise',
    issued: 'Émise',
    refused: 'Non émise',
    pending: 'Reçue',
    signing: 'En signature',
    transmitted: 'Transmise',
    accepted: 'Acceptée',
    rejected: 'Rejetée',
  },
  ar: {
    ready: 'جاهزة للإصدار',
    faulty: 'تحتاج إلى تصحيح',
    known: 'صدرت من قبل',
    issued: 'صدرت',
    refused: 'لم تصدر',
    pending: 'مُستلمة',
    signing: 'قيد التوقيع',
    transmitted: 'مُرسلة',
    accepted: 'مقبولة',
    rejected: 'مرفوضة',
  },
  en: {
    ready: 'Ready to issue',
    faulty: 'To be corrected',
    known: 'Issued before',
    issued: 'Issued',
    refused: 'Not issued',
    pending: 'Received',
    signing: 'Signing',
    transmitted: 'Transmitted',
    accepted: 'Accepted',
    rejected: 'Rejected',
  },
};
