import type { ImportStatus, Verdict } from '../../domain/imports/import.ts';
import type { IgnoredReason } from '../../domain/imports/reading.ts';
import type { Language } from './languages.ts';
import { counted } from './plural.ts';

/** The texts of imports of spreadsheets. */
interface ImportTexts {
  readonly title: string;
  readonly lead: string;
  /** How long files are kept. */
  readonly kept: (days: number) => string;
  readonly none: string;
  readonly failed: string;
  /** Of the place that takes a file, and of its button. */
  readonly drop: string;
  readonly choose: string;
  readonly formats: (megabytes: number) => string;
  readonly uploading: string;
  readonly interrupted: string;
  readonly tooLarge: (megabytes: number) => string;
  readonly templates: string;
  readonly templatesLead: string;
  readonly template: string;
  readonly saved: string;
  readonly columns: Readonly<Record<'file' | 'status' | 'invoices' | 'by' | 'at', string>>;
  readonly statuses: Readonly<Record<ImportStatus, string>>;
  readonly verdicts: Readonly<Record<Verdict, string>>;
  /** What each verdict means for the person. */
  readonly meanings: Readonly<Record<Verdict, string>>;
  readonly all: string;
  readonly filter: string;
  readonly counts: (count: number) => string;
  readonly read: (count: number) => string;
  readonly reading: string;
  readonly unreadable: string;
  /** When no invoice is ready. */
  readonly nothing: string;
  readonly issue: (count: number) => string;
  /** Beside the button, by environment. */
  readonly issueNote: Readonly<Record<'test' | 'live', string>>;
  readonly issuing: (done: string, all: string) => string;
  readonly outcome: (accepted: string, rejected: string, open: string) => string;
  readonly download: string;
  readonly downloadLead: string;
  readonly discard: string;
  readonly discardQuestion: string;
  readonly backToList: string;
  readonly how: string;
  readonly facts: Readonly<
    Record<
      | 'sheet'
      | 'otherSheets'
      | 'encoding'
      | 'separator'
      | 'decimalSign'
      | 'dateOrder'
      | 'dateSystem'
      | 'headerRow'
      | 'rows'
      | 'ignored',
      string
    >
  >;
  readonly separators: Readonly<Record<string, string>>;
  readonly decimals: Readonly<Record<string, string>>;
  readonly orders: Readonly<Record<string, string>>;
  readonly ignored: Readonly<Record<IgnoredReason, string>>;
  readonly mapping: string;
  readonly mappingLead: string;
  readonly missing: (fields: string) => string;
  readonly columnOfFile: string;
  readonly field: string;
  readonly unused: string;
  /** For a column of which it is not clear what it has. */
  readonly toChoose: string;
  readonly privateCustomers: string;
  /** Before the headers of columns that no field is made of. */
  readonly unusedColumns: string;
  readonly remap: string;
  readonly rows: (first: string, last: string) => string;
  readonly row: (row: string) => string;
  readonly nameless: string;
  readonly warnings: (count: number) => string;
  readonly noRows: string;
  /** Of the link to the form on the list of invoices. */
  readonly link: string;
}

const SIGNS = { ';': ';', ',': ',', '|': '|', '.': '.' } as const;

export const IMPORT_TEXTS: Readonly<Record<Language, ImportTexts>> = {
  fr: {
    title: 'Imports',
    lead: 'Déposez un tableau de factures\u00a0: chaque ligne est vérifiée, et rien n’est émis avant votre confirmation.',
    kept: (days) =>
      `Le fichier et ses résultats sont conservés ${days} jours. Les factures émises restent. Le même fichier déposé une seconde fois n’émet rien de plus.`,
    none: 'Aucun import pour le moment.',
    failed: 'Les imports ne peuvent pas être lus pour le moment.',
    drop: 'Déposez un fichier ici',
    choose: 'Choisir un fichier',
    formats: (megabytes) => `Excel (.xlsx) ou CSV, ${megabytes} Mo au plus.`,
    uploading: 'Envoi du fichier…',
    interrupted: 'Le fichier n’a pas pu être envoyé\u00a0: le service est injoignable. Réessayez.',
    tooLarge: (megabytes) =>
      `Ce fichier est trop volumineux\u00a0: ${megabytes} Mo au plus. Répartissez les factures sur plusieurs fichiers.`,
    templates: 'Modèle à remplir',
    templatesLead: 'Un classeur avec les colonnes, des listes de choix et une feuille d’explications.',
    template: 'Modèle en français (Excel)',
    saved: 'Le fichier est enregistré.',
    columns: { file: 'Fichier', status: 'État', invoices: 'Factures', by: 'Par', at: 'Date' },
    statuses: {
      reading: 'En lecture',
      unreadable: 'Illisible',
      checked: 'Vérifié',
      issuing: 'En cours d’émission',
      done: 'Terminé',
    },
    verdicts: {
      ready: 'Prête',
      faulty: 'À corriger',
      known: 'Déjà émise',
      issued: 'Émise',
      refused: 'Refusée',
    },
    meanings: {
      ready: 'Prêtes à être émises.',
      faulty: 'À corriger dans le fichier\u00a0: elles ne seront pas émises.',
      known: 'Déjà émises par un import précédent\u00a0: rien ne sera émis de nouveau.',
      issued: 'Émises par cet import.',
      refused: 'Refusées au moment de l’émission.',
    },
    all: 'Toutes',
    filter: 'Résultat',
    counts: counted('fr', { one: '# facture', other: '# factures' }),
    read: counted('fr', { one: '# facture lue', other: '# factures lues' }),
    reading: 'Le fichier est en cours de lecture et de vérification…',
    unreadable: 'Ce fichier ne peut pas être lu',
    nothing: 'Aucune facture de ce fichier n’est prête à être émise.',
    issue: counted('fr', { one: 'Émettre # facture', other: 'Émettre # factures' }),
    issueNote: {
      test: 'Dans l’environnement de test\u00a0: ces factures n’ont aucune valeur légale.',
      live: 'Ces factures seront transmises à l’administration fiscale. Une facture émise ne s’annule que par un avoir.',
    },
    issuing: (done, all) => `Factures émises\u00a0: ${done} sur ${all}`,
    outcome: (accepted, rejected, open) =>
      `Acceptées\u00a0: ${accepted}. Rejetées\u00a0: ${rejected}. En cours de traitement\u00a0: ${open}.`,
    download: 'Télécharger le fichier avec les résultats',
    downloadLead:
      'Votre fichier, avec le numéro, le statut, le motif, l’identifiant DGI et l’adresse du PDF de chaque facture dans des colonnes ajoutées.',
    discard: 'Supprimer cet import',
    discardQuestion: 'Le fichier et ses résultats seront supprimés. Les factures déjà émises restent.',
    backToList: 'Tous les imports',
    how: 'Comment le fichier a été lu',
    facts: {
      sheet: 'Feuille',
      otherSheets: 'Feuilles non lues',
      encoding: 'Encodage',
      separator: 'Séparateur',
      decimalSign: 'Signe décimal',
      dateOrder: 'Ordre des dates',
      dateSystem: 'Calendrier du classeur',
      headerRow: 'Ligne des titres',
      rows: 'Lignes avec contenu',
      ignored: 'Lignes laissées de côté',
    },
    separators: { ...SIGNS, '\t': 'tabulation' },
    decimals: { ',': 'virgule\u00a0: 1 234,56', '.': 'point\u00a0: 1,234.56' },
    orders: { dmy: 'jour, mois, année', mdy: 'mois, jour, année', ymd: 'année, mois, jour' },
    ignored: {
      total: 'total',
      hidden: 'masquée',
      repeated_header: 'titres répétés',
      note: 'remarque',
    },
    mapping: 'Colonnes du fichier',
    mappingLead: 'Votre choix est retenu pour les prochains fichiers qui ont les mêmes titres.',
    missing: (fields) => `Indiquez quelle colonne contient\u00a0: ${fields}.`,
    columnOfFile: 'Colonne du fichier',
    field: 'Champ de la facture',
    unused: 'Non utilisée',
    toChoose: 'À choisir',
    privateCustomers: 'Les clients sans ICE sont des particuliers',
    unusedColumns: 'Colonnes du fichier qui ne sont pas utilisées\u00a0:',
    remap: 'Relire avec ces colonnes',
    rows: (first, last) => `Lignes ${first} à ${last}`,
    row: (row) => `Ligne ${row}`,
    nameless: 'Sans nom de client',
    warnings: counted('fr', { one: '# avertissement', other: '# avertissements' }),
    noRows: 'Aucune facture avec ce résultat.',
    link: 'Importer un tableau',
  },
  en: {
    title: 'Spreadsheet imports',
    lead: 'Drop a table of invoices: each row is checked, and nothing is issued before you confirm it.',
    kept: (days) =>
      `File and results are kept for ${days} days. The issued invoices remain. The same file, uploaded again, issues nothing more.`,
    none: 'There are no imports yet.',
    failed: 'The imports cannot be read at the moment.',
    drop: 'Drop a file here',
    choose: 'Choose a file',
    formats: (megabytes) => `Excel (.xlsx) or CSV, at most ${megabytes} MB.`,
    uploading: 'The file is being sent…',
    interrupted: 'The file could not be sent: the service cannot be reached. Try again.',
    tooLarge: (megabytes) => `This file is too large: at most ${megabytes} MB. Spread the invoices over several files.`,
    templates: 'Template to fill in',
    templatesLead: 'A workbook with the columns, lists of choices, and a sheet that explains.',
    template: 'Template in English (Excel)',
    saved: 'The file is saved.',
    columns: { file: 'File', status: 'State', invoices: 'Invoices', by: 'By', at: 'Uploaded' },
    statuses: {
      reading: 'Being read',
      unreadable: 'Unreadable',
      checked: 'Checked',
      issuing: 'Being issued',
      done: 'Done',
    },
    verdicts: {
      ready: 'Ready',
      faulty: 'To correct',
      known: 'Issued before',
      issued: 'Issued',
      refused: 'Refused',
    },
    meanings: {
      ready: 'Ready to be issued.',
      faulty: 'To correct in the file: they will not be issued.',
      known: 'Issued by an earlier import: nothing will be issued again.',
      issued: 'Issued by this import.',
      refused: 'Refused when they were to be issued.',
    },
    all: 'All',
    filter: 'Result',
    counts: counted('en', { one: '# invoice', other: '# invoices' }),
    read: counted('en', { one: '# invoice read', other: '# invoices read' }),
    reading: 'The file is being read and checked…',
    unreadable: 'This file cannot be read',
    nothing: 'No invoice of this file is ready to be issued.',
    issue: counted('en', { one: 'Issue # invoice', other: 'Issue # invoices' }),
    issueNote: {
      test: 'In the test environment: these invoices have no legal value.',
      live: 'These invoices will be transmitted to the tax authority. An issued invoice can only be undone by a credit note.',
    },
    issuing: (done, all) => `Invoices issued: ${done} of ${all}`,
    outcome: (accepted, rejected, open) => `Accepted: ${accepted}. Rejected: ${rejected}. Under way: ${open}.`,
    download: 'Download the file with its results',
    downloadLead:
      'Your file, with the number, the status, the reason, the DGI id and the PDF’s address of each invoice in added columns.',
    discard: 'Delete this import',
    discardQuestion: 'The file and its results will be deleted. Invoices that were issued remain.',
    backToList: 'All imports',
    how: 'How the file was read',
    facts: {
      sheet: 'Sheet',
      otherSheets: 'Sheets that were not read',
      encoding: 'Encoding',
      separator: 'Separator',
      decimalSign: 'Decimal sign',
      dateOrder: 'Order of dates',
      dateSystem: 'Calendar of the workbook',
      headerRow: 'Row of the headers',
      rows: 'Rows with content',
      ignored: 'Rows left aside',
    },
    separators: { ...SIGNS, '\t': 'tab' },
    decimals: { ',': 'comma: 1 234,56', '.': 'point: 1,234.56' },
    orders: { dmy: 'day, month, year', mdy: 'month, day, year', ymd: 'year, month, day' },
    ignored: { total: 'total row', hidden: 'hidden', repeated_header: 'repeated headers', note: 'note' },
    mapping: 'Columns of the file',
    mappingLead: 'Your choice is kept for later files with the same headers.',
    missing: (fields) => `Say which column contains: ${fields}.`,
    columnOfFile: 'Column of the file',
    field: 'Field of the invoice',
    unused: 'Not used',
    toChoose: 'To be chosen',
    privateCustomers: 'Customers without an ICE are private persons',
    unusedColumns: 'Columns of the file that are not used:',
    remap: 'Read again with these columns',
    rows: (first, last) => `Rows ${first} to ${last}`,
    row: (row) => `Row ${row}`,
    nameless: 'No name of a customer',
    warnings: counted('en', { one: '# warning', other: '# warnings' }),
    noRows: 'There is no invoice with this result.',
    link: 'Import a spreadsheet',
  },
  ar: {
    title: 'الاستيراد',
    lead: 'ضعوا جدول فواتير: يجري التحقق من كل سطر، ولا يُصدر أي شيء قبل تأكيدكم.',
    kept: counted('ar', {
      other:
        'يُحتفظ بالملف ونتائجه لمدة # يوما. تبقى الفواتير الصادرة. إذا وُضع الملف نفسه مرة ثانية فلن يُصدر أي شيء إضافي.',
    }),
    none: 'لا توجد عمليات استيراد حاليا.',
    failed: 'تعذرت قراءة عمليات الاستيراد حاليا.',
    drop: 'ضعوا ملفا هنا',
    choose: 'اختيار ملف',
    formats: (megabytes) => `Excel (.xlsx) أو CSV، بحجم ${megabytes} ميغابايت على الأكثر.`,
    uploading: 'جارٍ إرسال الملف…',
    interrupted: 'تعذر إرسال الملف: لا يمكن الوصول إلى الخدمة. أعيدوا المحاولة.',
    tooLarge: (megabytes) => `هذا الملف كبير جدا: ${megabytes} ميغابايت على الأكثر. وزعوا الفواتير على عدة ملفات.`,
    templates: 'نموذج للتعبئة',
    templatesLead: 'ملف Excel فيه الأعمدة وقوائم الاختيار وورقة شروحات.',
    template: 'نموذج بالعربية (Excel)',
    saved: 'تم حفظ الملف.',
    columns: { file: 'الملف', status: 'الحالة', invoices: 'الفواتير', by: 'من طرف', at: 'التاريخ' },
    statuses: {
      reading: 'قيد القراءة',
      unreadable: 'غير مقروء',
      checked: 'تم التحقق منه',
      issuing: 'قيد الإصدار',
      done: 'انتهى',
    },
    verdicts: {
      ready: 'جاهزة',
      faulty: 'للتصحيح',
      known: 'صدرت من قبل',
      issued: 'صدرت',
      refused: 'لم تُقبل',
    },
    meanings: {
      ready: 'جاهزة للإصدار.',
      faulty: 'يجب تصحيحها في الملف: لن تُصدر.',
      known: 'صدرت في استيراد سابق: لن تُصدر من جديد.',
      issued: 'صدرت في هذا الاستيراد.',
      refused: 'لم تُقبل عند الإصدار.',
    },
    all: 'الكل',
    filter: 'النتيجة',
    counts: counted('ar', {
      zero: 'لا فاتورة',
      one: 'فاتورة واحدة',
      two: 'فاتورتان',
      few: '# فواتير',
      many: '# فاتورة',
      other: '# فاتورة',
    }),
    read: counted('ar', {
      zero: 'لم تُقرأ أي فاتورة بعد',
      one: 'قُرئت فاتورة واحدة',
      two: 'قُرئت فاتورتان',
      few: 'قُرئت # فواتير',
      many: 'قُرئت # فاتورة',
      other: 'قُرئت # فاتورة',
    }),
    reading: 'تجري قراءة الملف والتحقق منه…',
    unreadable: 'لا يمكن قراءة هذا الملف',
    nothing: 'لا توجد في هذا الملف أي فاتورة جاهزة للإصدار.',
    issue: counted('ar', {
      one: 'إصدار فاتورة واحدة',
      two: 'إصدار فاتورتين',
      few: 'إصدار # فواتير',
      many: 'إصدار # فاتورة',
      other: 'إصدار # فاتورة',
    }),
    issueNote: {
      test: 'في بيئة الاختبار: ليست لهذه الفواتير أي قيمة قانونية.',
      live: 'ستُرسل هذه الفواتير إلى الإدارة الضريبية. لا تُلغى فاتورة صادرة إلا بإشعار دائن.',
    },
    issuing: (done, all) => `الفواتير الصادرة: ${done} من أصل ${all}`,
    outcome: (accepted, rejected, open) => `المقبولة: ${accepted}. المرفوضة: ${rejected}. قيد المعالجة: ${open}.`,
    download: 'تنزيل الملف مع النتائج',
    downloadLead: 'ملفكم مع رقم كل فاتورة وحالتها والسبب ومعرّف المديرية العامة للضرائب وعنوان ملف PDF في أعمدة مضافة.',
    discard: 'حذف هذا الاستيراد',
    discardQuestion: 'سيُحذف الملف ونتائجه. تبقى الفواتير التي صدرت.',
    backToList: 'كل عمليات الاستيراد',
    how: 'كيف قُرئ الملف',
    facts: {
      sheet: 'الورقة',
      otherSheets: 'أوراق لم تُقرأ',
      encoding: 'الترميز',
      separator: 'الفاصل',
      decimalSign: 'علامة الأعداد العشرية',
      dateOrder: 'ترتيب التواريخ',
      dateSystem: 'تقويم الملف',
      headerRow: 'سطر العناوين',
      rows: 'السطور التي لها محتوى',
      ignored: 'سطور لم تُحتسب',
    },
    separators: { ...SIGNS, '\t': 'علامة جدولة' },
    decimals: { ',': 'فاصلة: 1 234,56', '.': 'نقطة: 1,234.56' },
    orders: { dmy: 'اليوم، الشهر، السنة', mdy: 'الشهر، اليوم، السنة', ymd: 'السنة، الشهر، اليوم' },
    ignored: { total: 'مجموع', hidden: 'مخفي', repeated_header: 'عناوين مكررة', note: 'ملاحظة' },
    mapping: 'أعمدة الملف',
    mappingLead: 'يُحتفظ باختياركم للملفات المقبلة التي لها العناوين نفسها.',
    missing: (fields) => `حددوا العمود الذي يحتوي على: ${fields}.`,
    columnOfFile: 'عمود الملف',
    field: 'حقل الفاتورة',
    unused: 'غير مستعمل',
    toChoose: 'للاختيار',
    privateCustomers: 'الزبائن الذين ليس لهم ICE أشخاص عاديون',
    unusedColumns: 'أعمدة الملف غير المستعملة:',
    remap: 'إعادة القراءة بهذه الأعمدة',
    rows: (first, last) => `السطور من ${first} إلى ${last}`,
    row: (row) => `السطر ${row}`,
    nameless: 'بدون اسم زبون',
    warnings: counted('ar', {
      one: 'تنبيه واحد',
      two: 'تنبيهان',
      few: '# تنبيهات',
      many: '# تنبيها',
      other: '# تنبيه',
    }),
    noRows: 'لا توجد فاتورة بهذه النتيجة.',
    link: 'استيراد جدول',
  },
};
