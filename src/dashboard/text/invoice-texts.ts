import type { InvoiceStatus } from '../../domain/invoice/lifecycle.ts';

/** The texts of a status: a headline for the current status, and its meaning for the customer. */
export interface StatusTexts {
  readonly headline: string;
  readonly meaning: string;
}

const fr = {
  loading: 'Lecture de la facture…',
  lost: 'Connexion perdue, nouvelle tentative en cours',
  refused: 'Cette facture ne peut pas être affichée',
  refusedUnder:
    'Le lien est incomplet ou n’est plus valable. Ouvrez-le de nouveau tel que vous l’avez reçu, ou demandez-le à votre fournisseur.',
  invoice: 'Facture',
  test: 'Facture de test',
  testUnder: 'Sans valeur légale ni fiscale : une administration simulée décide.',
  numberToCome: 'numéro à venir',
  /** The amount payable, `total` plus `rounding`, by the name that the PDF has for it. */
  payable: 'Net à payer',
  documents: 'Documents',
  pdf: 'Facture PDF',
  xml: 'XML signé',
  statuses: {
    pending: {
      headline: 'Facture reçue',
      meaning: 'Le service de facturation a enregistré la facture et prépare le document électronique.',
    },
    signing: {
      headline: 'Signature en cours',
      meaning: 'Le document électronique est établi. Il reçoit sa signature avant d’être transmis.',
    },
    transmitted: {
      headline: 'Transmise à l’administration fiscale',
      meaning: 'La Direction générale des impôts a reçu la facture. Sa décision est attendue.',
    },
    accepted: {
      headline: 'Acceptée par l’administration fiscale',
      meaning: 'La facture est valable. Vous pouvez en télécharger les documents signés.',
    },
    rejected: {
      headline: 'Facture rejetée',
      meaning: 'Cette facture n’est pas valable. Attendez de votre fournisseur une facture corrigée avant de payer.',
    },
  },
  /** Replace the texts above for a test invoice, which is never called valid. */
  testStatuses: {
    transmitted: {
      headline: 'Transmise à l’administration simulée',
      meaning: 'Sa décision est attendue. La Direction générale des impôts ne reçoit rien.',
    },
    accepted: {
      headline: 'Acceptée par l’administration simulée',
      meaning: 'Le test est concluant. Cette facture reste sans valeur ; ses documents signés sont des spécimens.',
    },
  } as Partial<Record<InvoiceStatus, StatusTexts>>,
};

const en: typeof fr = {
  loading: 'Reading the invoice…',
  lost: 'Connection lost, trying again',
  refused: 'This invoice cannot be shown',
  refusedUnder:
    'The link is incomplete or no longer valid. Open it again exactly as you received it, or ask your supplier for it.',
  invoice: 'Invoice',
  test: 'Test invoice',
  testUnder: 'Without legal or fiscal value: a simulated authority decides.',
  numberToCome: 'number to come',
  payable: 'Amount due',
  documents: 'Documents',
  pdf: 'PDF invoice',
  xml: 'Signed XML',
  statuses: {
    pending: {
      headline: 'Invoice received',
      meaning: 'The invoicing service has recorded the invoice and is preparing the electronic document.',
    },
    signing: {
      headline: 'Being signed',
      meaning: 'The electronic document is written. It is being signed before it is transmitted.',
    },
    transmitted: {
      headline: 'Sent to the tax authority',
      meaning: 'The Moroccan tax authority (DGI) has received the invoice. Its decision is awaited.',
    },
    accepted: {
      headline: 'Accepted by the tax authority',
      meaning: 'The invoice is valid. You can download its signed documents.',
    },
    rejected: {
      headline: 'Invoice rejected',
      meaning: 'This invoice is not valid. Wait for a corrected invoice from your supplier before you pay.',
    },
  },
  testStatuses: {
    transmitted: {
      headline: 'Sent to the simulated authority',
      meaning: 'Its decision is awaited. The Moroccan tax authority (DGI) receives nothing.',
    },
    accepted: {
      headline: 'Accepted by the simulated authority',
      meaning: 'The test succeeded. This invoice has no value; its signed documents are specimens.',
    },
  },
};

const ar: typeof fr = {
  loading: 'جارٍ تحميل الفاتورة…',
  lost: 'انقطع الاتصال، تجري محاولة جديدة',
  refused: 'لا يمكن عرض هذه الفاتورة',
  refusedUnder: 'الرابط غير كامل أو لم يعد صالحا. افتحوه من جديد كما توصلتم به، أو اطلبوه من المورد.',
  invoice: 'فاتورة',
  test: 'فاتورة اختبار',
  testUnder: 'ليست لها أي قيمة قانونية أو ضريبية: القرار لمحاكي الإدارة الضريبية.',
  numberToCome: 'رقمها لم يُسند بعد',
  payable: 'المبلغ الواجب أداؤه',
  documents: 'الوثائق',
  pdf: 'الفاتورة PDF',
  xml: 'ملف XML الموقع',
  statuses: {
    pending: {
      headline: 'تم استلام الفاتورة',
      meaning: 'سجلت خدمة الفوترة الفاتورة وهي تُعِدّ الوثيقة الإلكترونية.',
    },
    signing: {
      headline: 'التوقيع جارٍ',
      meaning: 'الوثيقة الإلكترونية جاهزة، ويجري توقيعها قبل إرسالها.',
    },
    transmitted: {
      headline: 'أُرسلت إلى الإدارة الضريبية',
      meaning: 'توصلت المديرية العامة للضرائب بالفاتورة، وقرارها منتظر.',
    },
    accepted: {
      headline: 'قبلتها الإدارة الضريبية',
      meaning: 'الفاتورة صالحة. يمكنكم تحميل وثائقها الموقعة.',
    },
    rejected: {
      headline: 'الفاتورة مرفوضة',
      meaning: 'هذه الفاتورة غير صالحة. انتظروا فاتورة مصححة من المورد قبل الأداء.',
    },
  },
  testStatuses: {
    transmitted: {
      headline: 'أُرسلت إلى محاكي الإدارة الضريبية',
      meaning: 'قرارها منتظر. لا تتوصل المديرية العامة للضرائب بأي شيء.',
    },
    accepted: {
      headline: 'قبلها محاكي الإدارة الضريبية',
      meaning: 'نجح الاختبار. ليست لهذه الفاتورة أي قيمة، ووثائقها الموقعة مجرد نماذج.',
    },
  },
};

/** What an invoice says to its customer: on the pages, and in the element of other sites (clients/live). */
export const INVOICE_TEXTS = { fr, en, ar } as const;
