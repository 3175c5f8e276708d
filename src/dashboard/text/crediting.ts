import type { Language } from './languages.ts';

const fr = {
  /** The heading of the credit notes of an invoice. */
  title: 'Avoirs',
  credited: (credited: string, total: string) => `${credited} crédités sur ${total}`,
  showAll: 'Afficher tous les avoirs',
  /** The link to the form. */
  action: 'Créer un avoir',
  pageTitle: 'Avoir sur la facture',
  lead: 'L’avoir est numéroté, signé et transmis comme une facture. Il ne peut plus être modifié.',
  fully: 'Cette facture est entièrement créditée.',
  what: 'Ce qui est crédité',
  ways: {
    whole: 'Toute la facture',
    rest: 'Tout ce qui reste',
    lines: 'Des lignes de la facture',
    amounts: 'Des montants par taux de TVA',
  },
  quantity: (line: number) => `Quantité à créditer, ligne ${line}`,
  /** The quantity of a line in the invoice. */
  most: (quantity: string) => `sur ${quantity}`,
  /** @param rate percent */
  netAt: (rate: number) => `Montant HT à ${rate}\u00a0%`,
  left: (amount: string) => `Reste à créditer\u00a0: ${amount}`,
  chooseReason: 'Choisissez un motif',
  note: 'Précision (facultative)',
  noteHint: 'Elle figure sur l’avoir, en 500 caractères au plus.',
  preview: 'Ce que l’avoir créditera',
  rate: 'Taux',
  nothing: 'Indiquez ce qui est crédité.',
  /** In place of the preview, when fields have faults. */
  faulty: 'Corrigez les valeurs signalées.',
  /** The values that a field for a quantity or an amount accepts. */
  quantityFault: (most: string) => `Indiquez un nombre entier de 1 à ${most}.`,
  /** The values that a field for a part of a measure accepts. */
  partFault: (most: string) => `Indiquez un nombre jusqu’à ${most}.`,
  amountFault: 'Indiquez un montant en dirhams, comme 1\u00a0234,50.',
  submit: 'Émettre l’avoir',
};

const en: typeof fr = {
  title: 'Credit notes',
  credited: (credited, total) => `${credited} credited of ${total}`,
  showAll: 'Show all credit notes',
  action: 'Credit',
  pageTitle: 'Credit note for invoice',
  lead: 'The credit note is numbered, signed and transmitted like an invoice. It cannot be changed afterwards.',
  fully: 'This invoice is credited completely.',
  what: 'What is credited',
  ways: {
    whole: 'The whole invoice',
    rest: 'All that is left',
    lines: 'Lines of the invoice',
    amounts: 'Amounts by VAT rate',
  },
  quantity: (line) => `Quantity to credit, line ${line}`,
  most: (quantity) => `of ${quantity}`,
  netAt: (rate) => `Amount excl. VAT at ${rate}%`,
  left: (amount) => `Left to credit: ${amount}`,
  chooseReason: 'Choose a reason',
  note: 'Note (optional)',
  noteHint: 'The credit note states it; at most 500 characters.',
  preview: 'What the credit note will credit',
  rate: 'Rate',
  nothing: 'State what is credited.',
  faulty: 'Correct the marked values.',
  quantityFault: (most) => `Enter a whole number from 1 to ${most}.`,
  partFault: (most) => `Enter a number up to ${most}.`,
  amountFault: 'Enter an amount in dirhams, such as 1,234.50.',
  submit: 'Issue the credit note',
};

const ar: typeof fr = {
  title: 'الإشعارات الدائنة',
  credited: (credited, total) => `صدرت إشعارات دائنة بمبلغ ${credited} من أصل ${total}`,
  showAll: 'عرض كل الإشعارات الدائنة',
  action: 'إشعار دائن',
  pageTitle: 'إشعار دائن عن الفاتورة',
  lead: 'يُرقَّم الإشعار الدائن ويُوقَّع ويُرسل مثل الفاتورة، ولا يمكن تغييره بعد ذلك.',
  fully: 'شملت الإشعارات الدائنة مبلغ هذه الفاتورة كاملا.',
  what: 'ما يشمله الإشعار',
  ways: {
    whole: 'الفاتورة كلها',
    rest: 'كل ما تبقى',
    lines: 'سطور من الفاتورة',
    amounts: 'مبالغ حسب نسبة الضريبة',
  },
  quantity: (line) => `الكمية المشمولة، السطر ${line}`,
  most: (quantity) => `من أصل ${quantity}`,
  netAt: (rate) => `المبلغ دون الرسوم بنسبة ${rate}\u00a0%`,
  left: (amount) => `المتبقي: ${amount}`,
  chooseReason: 'اختاروا سببا',
  note: 'توضيح (اختياري)',
  noteHint: 'يظهر في الإشعار الدائن، في 500 حرف على الأكثر.',
  preview: 'مضمون الإشعار الدائن',
  rate: 'النسبة',
  nothing: 'حددوا ما يشمله الإشعار.',
  faulty: 'صححوا القيم المشار إليها.',
  quantityFault: (most) => `أدخلوا عددا صحيحا من 1 إلى ${most}.`,
  partFault: (most) => `أدخلوا عددا لا يتجاوز ${most}.`,
  amountFault: 'أدخلوا مبلغا بالدرهم، مثل 1234,50.',
  submit: 'إصدار الإشعار الدائن',
};

/** The texts about crediting an invoice. Amounts come with their currency. */
export type CreditingTexts = typeof fr;

export const CREDITING_TEXTS: Readonly<Record<Language, CreditingTexts>> = { fr, en, ar };
