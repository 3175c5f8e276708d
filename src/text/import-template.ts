import type { DocumentLanguage } from '../domain/document-language.ts';

/** The texts of the workbook for invoices, beside its headers. */
interface TemplateTexts {
  /** The names of its sheets, at most 31 characters. */
  readonly invoices: string;
  readonly explanations: string;
  /** How to fill it in, one sentence a line. */
  readonly steps: readonly string[];
  /** Heads of the table of columns. */
  readonly column: string;
  readonly need: string;
  readonly firstLine: string;
  readonly secondLine: string;
  readonly explanation: string;
  readonly required: string;
  readonly optional: string;
  /** Above the values that the lists of cells offer. */
  readonly lists: string;
  /** When a cell gets a value that its list does not have. */
  readonly notInList: string;
  /** What the example sells, in two lines. */
  readonly sold: readonly [string, string];
  readonly buyer: string;
  readonly address: string;
}

export const TEMPLATE_TEXTS: Readonly<Record<DocumentLanguage, TemplateTexts>> = {
  fr: {
    invoices: 'Factures',
    explanations: 'Explications',
    steps: [
      'Remplissez la feuille «\u00a0Factures\u00a0»\u00a0: une ligne du tableau pour chaque ligne de facture.',
      'Les lignes d’une même facture se suivent et portent le même repère, dans la première colonne.',
      'Le client, les dates et le paiement se remplissent sur la première ligne de la facture.',
      'Déposez ensuite le fichier sur la page des imports\u00a0: rien n’est émis avant votre confirmation.',
      'Les colonnes sans usage peuvent rester vides ou être supprimées. Gardez la ligne des titres.',
    ],
    column: 'Colonne',
    need: 'Obligatoire\u00a0?',
    firstLine: 'Exemple, 1re ligne',
    secondLine: 'Exemple, 2e ligne',
    explanation: 'Ce qu’il faut écrire',
    required: 'obligatoire',
    optional: 'facultatif',
    lists: 'Valeurs des listes',
    notInList: 'Cette valeur n’est pas dans la liste de la feuille «\u00a0Explications\u00a0».',
    sold: ['Conseil', 'Déplacement'],
    buyer: 'Atlas Distribution SARL',
    address: '12, rue des Orangers, Casablanca',
  },
  en: {
    invoices: 'Invoices',
    explanations: 'Explanations',
    steps: [
      'Fill in the sheet “Invoices”: a row for each line of an invoice.',
      'The lines of one invoice follow each other and have the same key, in the first column.',
      'Customer, dates and payment are filled in on the first line of the invoice.',
      'Then drop the file on the page of imports: nothing is issued before you confirm it.',
      'Columns that you do not use may stay empty or be deleted. Keep the row of headers.',
    ],
    column: 'Column',
    need: 'Required?',
    firstLine: 'Example, 1st line',
    secondLine: 'Example, 2nd line',
    explanation: 'What to write',
    required: 'required',
    optional: 'optional',
    lists: 'Values of the lists',
    notInList: 'This value is not in the list of the sheet “Explanations”.',
    sold: ['Consulting', 'Travel'],
    buyer: 'Atlas Distribution SARL',
    address: '12, rue des Orangers, Casablanca',
  },
  ar: {
    invoices: 'الفواتير',
    explanations: 'شروحات',
    steps: [
      'املؤوا ورقة «الفواتير»: سطر في الجدول لكل سطر من الفاتورة.',
      'سطور الفاتورة الواحدة متتالية وتحمل المعرف نفسه في العمود الأول.',
      'يُكتب الزبون والتواريخ والأداء في السطر الأول من الفاتورة.',
      'ضعوا الملف بعد ذلك في صفحة الاستيراد: لا يُصدر أي شيء قبل تأكيدكم.',
      'يمكن ترك الأعمدة التي لا تحتاجون إليها فارغة أو حذفها. احتفظوا بسطر العناوين.',
    ],
    column: 'العمود',
    need: 'هل هو إلزامي؟',
    firstLine: 'مثال، السطر الأول',
    secondLine: 'مثال، السطر الثاني',
    explanation: 'ما يجب كتابته',
    required: 'إلزامي',
    optional: 'اختياري',
    lists: 'قيم القوائم',
    notInList: 'هذه القيمة غير موجودة في قائمة ورقة «شروحات».',
    sold: ['استشارة', 'تنقل'],
    buyer: 'أطلس للتوزيع ش.ذ.م.م',
    address: '12، زنقة البرتقال، الدار البيضاء',
  },
};
