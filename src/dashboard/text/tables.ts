import type { Language } from './languages.ts';
import { counted } from './plural.ts';

/** The texts of tables. */
interface TableTexts {
  readonly columns: string;
  /** Of the links that set how many rows a page has. */
  readonly sizes: string;
  readonly size: (count: number) => string;
  /** Of the links to the pages of a list that is not in its usual order. */
  readonly previous: string;
  readonly following: string;
  /** Of the button that copies the address of the customer's page. */
  readonly customerLink: string;
  /** Of the field that finds requests. */
  readonly findRequest: string;
  readonly retry: string;
  /** Of a table whose rows are still being read. */
  readonly loading: string;
  readonly ice: string;
  readonly dgiId: string;
  readonly order: string;
  readonly dueDate: string;
  readonly event: string;
  readonly invoice: string;
  readonly endpoint: string;
  readonly state: string;
  readonly answer: string;
  readonly attempts: string;
  readonly at: string;
  readonly next: string;
  readonly deleted: string;
  readonly total: string;
  readonly changed: string;
  readonly by: string;
  readonly request: string;
  readonly status: string;
  readonly duration: string;
  readonly documents: (count: number) => string;
  /** Of a list that has more documents than were counted. */
  readonly moreThan: (count: number) => string;
  /** The totals of what a list is restricted to. */
  readonly totals: string;
}

export const TABLE_TEXTS: Readonly<Record<Language, TableTexts>> = {
  fr: {
    columns: 'Colonnes',
    sizes: 'Lignes par page',
    size: (count) => `${count} lignes par page`,
    previous: 'Page précédente',
    following: 'Page suivante',
    customerLink: 'Copier le lien du client',
    findRequest: 'Chemin, clé ou identifiant d’une requête',
    retry: 'Réessayer',
    loading: 'Chargement',
    ice: 'ICE',
    dgiId: 'Identifiant DGI',
    order: 'Commande',
    dueDate: 'Échéance',
    event: 'Événement',
    invoice: 'Document',
    endpoint: 'Destination',
    state: 'État',
    answer: 'Réponse',
    attempts: 'Tentatives',
    at: 'Date',
    next: 'Prochaine tentative',
    deleted: 'supprimée',
    total: 'Total TTC',
    changed: 'Modifié le',
    by: 'Par',
    request: 'Requête',
    status: 'Statut',
    duration: 'Durée',
    documents: counted('fr', { one: '# document', other: '# documents' }),
    moreThan: counted('fr', { other: 'Plus de # documents' }),
    totals: 'Totaux de la liste',
  },
  en: {
    columns: 'Columns',
    sizes: 'Rows per page',
    size: (count) => `${count} rows per page`,
    previous: 'Previous page',
    following: 'Next page',
    customerLink: 'Copy the customer’s link',
    findRequest: 'Path, key or id of a request',
    retry: 'Try again',
    loading: 'Loading',
    ice: 'ICE',
    dgiId: 'DGI id',
    order: 'Order',
    dueDate: 'Due',
    event: 'Event',
    invoice: 'Document',
    endpoint: 'Endpoint',
    state: 'State',
    answer: 'Answer',
    attempts: 'Attempts',
    at: 'Date',
    next: 'Next attempt',
    deleted: 'deleted',
    total: 'Total with VAT',
    changed: 'Changed',
    by: 'By',
    request: 'Request',
    status: 'Status',
    duration: 'Duration',
    documents: counted('en', { one: '# document', other: '# documents' }),
    moreThan: counted('en', { other: 'More than # documents' }),
    totals: 'Totals of the list',
  },
  ar: {
    columns: 'الأعمدة',
    sizes: 'عدد الأسطر في الصفحة',
    size: counted('ar', { few: '# أسطر في الصفحة', many: '# سطرا في الصفحة', other: '# سطر في الصفحة' }),
    previous: 'الصفحة السابقة',
    following: 'الصفحة التالية',
    customerLink: 'نسخ رابط الزبون',
    findRequest: 'مسار أو مفتاح أو معرّف الطلب',
    retry: 'أعيدوا المحاولة',
    loading: 'جارٍ التحميل',
    ice: 'ICE',
    dgiId: 'معرّف المديرية العامة للضرائب',
    order: 'الطلبية',
    dueDate: 'تاريخ الاستحقاق',
    event: 'الحدث',
    invoice: 'الوثيقة',
    endpoint: 'نقطة الاستقبال',
    state: 'الحالة',
    answer: 'الجواب',
    attempts: 'المحاولات',
    at: 'التاريخ',
    next: 'المحاولة التالية',
    deleted: 'محذوفة',
    total: 'المجموع مع الضريبة',
    changed: 'آخر تعديل',
    by: 'من طرف',
    request: 'الطلب',
    status: 'الحالة',
    duration: 'المدة',
    documents: counted('ar', {
      zero: 'لا وثيقة',
      one: 'وثيقة واحدة',
      two: 'وثيقتان',
      few: '# وثائق',
      many: '# وثيقة',
      other: '# وثيقة',
    }),
    moreThan: counted('ar', { few: 'أكثر من # وثائق', other: 'أكثر من # وثيقة' }),
    totals: 'مجاميع القائمة',
  },
};
