import type { DocumentLanguage } from '../domain/document-language.ts';
import type { RowProblem } from '../domain/imports/reading.ts';
import type { FileFault, RowFault } from '../domain/imports/row-rules.ts';
import { CURRENCY } from '../domain/money.ts';
import { FORMATS } from './document-format.ts';
import { ERROR_TEXTS } from './error-texts.ts';
import { fieldRule } from './import-rules.ts';

type Texts = Readonly<Record<DocumentLanguage, string>>;

/** What is wrong with a cell or a row, and the cure. `{fact}` stands for a fact of the problem. */
const ROW_TEXTS: Readonly<Record<RowFault, Texts>> = {
  cell_empty: {
    fr: 'La cellule est vide\u00a0: remplissez-la.',
    ar: 'الخلية فارغة: املؤوها.',
    en: 'The cell is empty: fill it in.',
  },
  cell_too_long: {
    fr: 'Le texte est trop long\u00a0: {most} caractères au plus.',
    ar: 'النص طويل جدا: الحد الأقصى للحروف هو {most}.',
    en: 'The text is too long: at most {most} characters.',
  },
  cell_error: {
    fr: 'La formule donne une erreur\u00a0: corrigez-la, ou saisissez la valeur.',
    ar: 'تعطي الصيغة خطأ: صححوها أو أدخلوا القيمة.',
    en: 'The formula gives an error: correct it, or enter the value.',
  },
  formula_not_computed: {
    fr: 'La formule n’a pas encore été calculée\u00a0: ouvrez le fichier dans votre tableur, enregistrez-le, puis envoyez-le.',
    ar: 'لم تُحسب الصيغة بعد: افتحوا الملف في برنامج الجداول واحفظوه ثم أرسلوه.',
    en: 'The formula has not been computed: open the file in your spreadsheet program, save it, and upload it again.',
  },
  formula_volatile: {
    fr: 'La formule change de valeur d’elle-même, comme =AUJOURDHUI()\u00a0: saisissez la valeur.',
    ar: 'قيمة الصيغة تتغير من تلقاء نفسها، مثل ‎=TODAY()‎: أدخلوا القيمة.',
    en: 'The formula changes its value by itself, as =TODAY() does: enter the value.',
  },
  became_date: {
    fr: 'Le tableur a transformé la saisie en date\u00a0: mettez la cellule au format Texte, puis saisissez de nouveau la valeur.',
    ar: 'حوّل برنامج الجداول القيمة إلى تاريخ: اختاروا للخلية تنسيق نص ثم أدخلوا القيمة من جديد.',
    en: 'The spreadsheet turned the value into a date: give the cell the format Text, then enter it again.',
  },
  not_a_number: {
    fr: 'Ce n’est pas un nombre.',
    ar: 'هذا ليس عددا.',
    en: 'This is no number.',
  },
  percent_unexpected: {
    fr: 'C’est un pourcentage, alors que la colonne attend une quantité ou un montant en dirhams\u00a0: saisissez la valeur, ou utilisez une colonne de pourcentages.',
    ar: 'هذه نسبة مئوية، بينما ينتظر العمود كمية أو مبلغا بالدرهم: أدخلوا القيمة أو استعملوا عمودا للنسب.',
    en: 'This is a percentage, but the column expects a quantity or an amount in dirhams: enter the value, or use a column of percentages.',
  },
  is_time: {
    fr: 'La cellule contient une heure ou une durée\u00a0: écrivez un nombre, par exemple 12,5 pour douze heures et demie.',
    ar: 'تحتوي الخلية على ساعة أو مدة: اكتبوا عددا، مثلا 12,5 لاثنتي عشرة ساعة ونصف.',
    en: 'The cell has a time or a duration: write a number, such as 12.5 for twelve hours and a half.',
  },
  shown_otherwise: {
    fr: 'La cellule n’affiche pas ce qu’elle contient, à cause de son format de nombre\u00a0: mettez-la au format Texte ou Standard, puis saisissez de nouveau la valeur.',
    ar: 'لا تعرض الخلية ما تحتويه بسبب تنسيق الأعداد: اختاروا لها تنسيق نص أو عام ثم أدخلوا القيمة من جديد.',
    en: 'The cell does not show what it holds, because of its number format: give it the format Text or General, then enter the value again.',
  },
  bad_characters: {
    fr: 'Certains caractères sont illisibles\u00a0: enregistrez le fichier au format CSV UTF-8, ou saisissez de nouveau le texte.',
    ar: 'بعض الحروف غير مقروءة: احفظوا الملف بتنسيق CSV UTF-8 أو أدخلوا النص من جديد.',
    en: 'Some characters cannot be read: save the file as CSV UTF-8, or enter the text again.',
  },
  ambiguous_number: {
    fr: 'On ne sait pas si c’est {point} ou {comma}\u00a0: écrivez un zéro de plus à la fin, ou supprimez le séparateur de milliers.',
    ar: 'لا يُعرف هل المقصود {point} أم {comma}: أضيفوا صفرا في النهاية، أو احذفوا فاصل الآلاف.',
    en: 'This may be {point} or {comma}: add a zero at the end, or remove the separator of thousands.',
  },
  ambiguous_percent: {
    fr: 'On ne sait pas s’il s’agit d’une fraction\u00a0: écrivez le pourcentage avec le signe %.',
    ar: 'لا يُعرف هل هذا كسر: اكتبوا النسبة مع العلامة %.',
    en: 'This may be a fraction: write the percentage with the sign %.',
  },
  too_many_decimals: {
    fr: 'Trop de décimales\u00a0: {most} au plus. Arrondissez la valeur.',
    ar: 'الأرقام العشرية كثيرة جدا: الحد الأقصى هو {most}. قرّبوا القيمة.',
    en: 'Too many decimals: at most {most}. Round the value.',
  },
  number_too_large: {
    fr: 'Le nombre est trop grand.',
    ar: 'العدد كبير جدا.',
    en: 'The number is too large.',
  },
  negative: {
    fr: 'La valeur est négative\u00a0: une facture n’en a pas. Pour annuler une facture, créez un avoir.',
    ar: 'القيمة سالبة: لا تتضمن الفاتورة قيما سالبة. لإلغاء فاتورة أنشئوا إشعارا دائنا.',
    en: 'The value is negative, which an invoice cannot have. To cancel an invoice, create a credit note.',
  },
  foreign_currency: {
    fr: 'Les montants sont en dirhams ({currency})\u00a0: convertissez la valeur.',
    ar: 'المبالغ بالدرهم ({currency}): حوّلوا القيمة.',
    en: 'Amounts are in dirhams ({currency}): convert the value.',
  },
  not_a_date: {
    fr: 'Ce n’est pas une date du calendrier\u00a0: écrivez par exemple 31/01/2026.',
    ar: 'هذا ليس تاريخا صحيحا: اكتبوا مثلا 31/01/2026.',
    en: 'This is no date of the calendar: write 2026-01-31, for example.',
  },
  ambiguous_date: {
    fr: 'On ne sait pas si c’est le {dmy} ou le {mdy}\u00a0: le fichier a des dates des deux formes. Écrivez-la sous la forme {dmy}.',
    ar: 'لا يُعرف هل المقصود {dmy} أم {mdy}: في الملف تواريخ بالشكلين. اكتبوا التاريخ بالشكل {dmy}.',
    en: 'This may be {dmy} or {mdy}: the file has dates of both forms. Write it as {dmy}.',
  },
  date_may_be_swapped: {
    fr: 'C’est peut-être le {mdy}\u00a0: la colonne a des dates et des textes, comme après un tableur d’une autre langue, qui échange jour et mois. Mettez la colonne au format Texte, puis saisissez de nouveau ses dates, celle-ci sous la forme {dmy}.',
    ar: 'قد يكون المقصود {mdy}: في العمود تواريخ ونصوص، كما بعد برنامج جداول بلغة أخرى يبدل اليوم بالشهر. اختاروا للعمود تنسيق نص ثم أدخلوا تواريخه من جديد، وهذا التاريخ بالشكل {dmy}.',
    en: 'This may be {mdy}: the column has dates and texts, as after a spreadsheet program of another language, which exchanges day and month. Give the column the format Text, then enter its dates again, this one as {dmy}.',
  },
  date_without_format: {
    fr: 'C’est un nombre, non une date\u00a0: mettez la cellule au format Date.',
    ar: 'هذا عدد وليس تاريخا: اختاروا للخلية تنسيق تاريخ.',
    en: 'This is a number, not a date: give the cell the format Date.',
  },
  digits_lost: {
    fr: 'Le tableur a raccourci le nombre, des chiffres sont perdus\u00a0: mettez la colonne au format Texte, puis saisissez de nouveau tous les chiffres.',
    ar: 'اختصر برنامج الجداول العدد فضاعت أرقام منه: اختاروا للعمود تنسيق نص ثم أدخلوا كل الأرقام من جديد.',
    en: 'The spreadsheet shortened the number, so digits are lost: give the column the format Text, then enter all digits again.',
  },
  ice_as_number: {
    fr: 'Le tableur a enregistré l’ICE comme un nombre et il y manque des chiffres\u00a0: mettez la colonne au format Texte, puis saisissez les 15 chiffres.',
    ar: 'حفظ برنامج الجداول ICE كعدد وتنقصه أرقام: اختاروا للعمود تنسيق نص ثم أدخلوا الأرقام الخمسة عشر.',
    en: 'The spreadsheet keeps the ICE as a number and digits are missing: give the column the format Text, then enter the 15 digits.',
  },
  unknown_choice: {
    fr: 'Cette valeur n’est pas dans la liste\u00a0: choisissez-en une du modèle.',
    ar: 'هذه القيمة ليست في القائمة: اختاروا قيمة من النموذج.',
    en: 'This value is not in the list: take one of the template.',
  },
  unknown_unit: {
    fr: 'Cette unité est inconnue\u00a0: choisissez-en une du modèle, ou laissez la cellule vide et écrivez l’unité dans la désignation.',
    ar: 'هذه الوحدة غير معروفة: اختاروا وحدة من النموذج، أو اتركوا الخلية فارغة واكتبوا الوحدة في البيان.',
    en: 'This unit is unknown: take one of the template, or leave the cell empty and write the unit into the description.',
  },
  unknown_country: {
    fr: 'Ce pays est inconnu\u00a0: écrivez son nom en français ou son code à deux lettres, comme FR.',
    ar: 'هذا البلد غير معروف: اكتبوا اسمه أو رمزه من حرفين مثل FR.',
    en: 'This country is unknown: write its name in English or its code of two letters, such as FR.',
  },
  unknown_rate: {
    fr: 'Ce n’est pas un taux de TVA\u00a0: {accepted}.',
    ar: 'هذا ليس سعرا للضريبة على القيمة المضافة: {accepted}.',
    en: 'This is no rate of VAT: {accepted}.',
  },
  credit_note: {
    fr: 'C’est un avoir, qui n’est pas importé\u00a0: créez-le à partir de la facture qu’il corrige, et supprimez la ligne.',
    ar: 'هذا إشعار دائن، وهو لا يُستورد: أنشئوه انطلاقا من الفاتورة التي يصححها واحذفوا السطر.',
    en: 'This is a credit note, which is not imported: create it from the invoice that it corrects, and delete the row.',
  },
  not_an_invoice: {
    fr: 'Ce document n’est pas une facture de vente\u00a0: supprimez la ligne. S’il faut le facturer, videz la cellule, ou n’utilisez pas la colonne.',
    ar: 'هذه الوثيقة ليست فاتورة بيع: احذفوا السطر. إذا وجبت فوترتها فأفرغوا الخلية أو لا تستعملوا العمود.',
    en: 'This document is no invoice of a sale: delete the row. If it is to be invoiced, clear the cell, or do not use the column.',
  },
  not_final: {
    fr: 'Ce document n’est pas définitif\u00a0: validez-le dans votre logiciel, ou supprimez la ligne. S’il faut déjà le facturer, videz la cellule, ou n’utilisez pas la colonne.',
    ar: 'هذه الوثيقة غير نهائية: صادقوا عليها في برنامجكم أو احذفوا السطر. إذا وجبت فوترتها الآن فأفرغوا الخلية أو لا تستعملوا العمود.',
    en: 'This document is not final: confirm it in your program, or delete the row. If it is to be invoiced already, clear the cell, or do not use the column.',
  },
  cancelled: {
    fr: 'Cette vente est annulée, refusée ou remboursée\u00a0: supprimez la ligne. S’il faut la facturer, videz la cellule, puis créez un avoir pour ce qui est remboursé.',
    ar: 'هذا البيع ملغى أو مرفوض أو مسترد: احذفوا السطر. إذا وجبت فوترته فأفرغوا الخلية ثم أنشئوا إشعارا دائنا لما استُرد.',
    en: 'This sale is cancelled, refused or refunded: delete the row. If it is to be invoiced, clear the cell, and then create a credit note for what is refunded.',
  },
  unknown_state: {
    fr: 'On ne sait pas si un document qui est dans cet état doit être facturé\u00a0: si oui, videz la cellule, sinon supprimez la ligne. Si la colonne dit autre chose, ne l’utilisez pas.',
    ar: 'لا يُعرف هل تجب فوترة وثيقة في هذه الحالة: إن وجبت فأفرغوا الخلية، وإلا فاحذفوا السطر. إذا كان العمود يعني شيئا آخر فلا تستعملوه.',
    en: 'It is not known whether a document in this state is to be invoiced: if so, clear the cell, else delete the row. If the column means something else, do not use it.',
  },
  differs: {
    fr: 'La ligne {firstRow} de la même facture indique «\u00a0{first}\u00a0»\u00a0: écrivez la même valeur, ou laissez la cellule vide.',
    ar: 'في السطر {firstRow} من نفس الفاتورة «{first}»: اكتبوا القيمة نفسها أو اتركوا الخلية فارغة.',
    en: 'Row {firstRow} of the same invoice has “{first}”: write the same value, or leave the cell empty.',
  },
  document_missing: {
    fr: 'Il manque le repère de la facture\u00a0: on ne sait pas à quelle facture appartient la ligne.',
    ar: 'معرف الفاتورة ناقص: لا يُعرف إلى أي فاتورة ينتمي هذا السطر.',
    en: 'The invoice key is missing: it is not known to which invoice the row belongs.',
  },
  no_beginning: {
    fr: 'La ligne n’appartient à aucune facture\u00a0: il manque le client ou le repère.',
    ar: 'لا ينتمي هذا السطر إلى أي فاتورة: الزبون أو المعرف ناقص.',
    en: 'The row belongs to no invoice: the customer or the key is missing.',
  },
  rows_apart: {
    fr: 'D’autres lignes de cette facture se trouvent plus loin (ligne {otherRow})\u00a0: placez-les les unes après les autres.',
    ar: 'توجد سطور أخرى من هذه الفاتورة في مكان آخر (السطر {otherRow}): ضعوها متتالية.',
    en: 'Other rows of this invoice stand apart (row {otherRow}): put them one after the other.',
  },
  hidden_row: {
    fr: 'Une ligne de cette facture est masquée\u00a0: affichez-la ou supprimez-la.',
    ar: 'هناك سطر مخفي من هذه الفاتورة: أظهروه أو احذفوه.',
    en: 'A row of this invoice is hidden: show it or delete it.',
  },
  may_be_total: {
    fr: 'Cette ligne ressemble à un total\u00a0: supprimez-la. Si c’est un article, changez sa désignation, ou indiquez aussi sur la ligne le repère ou le numéro de la facture.',
    ar: 'يبدو هذا السطر مجموعا: احذفوه. إذا كان منتجا فغيّروا بيانه، أو اذكروا أيضا معرف الفاتورة أو رقمها في السطر.',
    en: 'This row looks like a total: delete it. If it is an item, change its description, or state the key or the number of the invoice on the row, too.',
  },
  merged_amount: {
    fr: 'La cellule est fusionnée avec d’autres lignes\u00a0: annulez la fusion et écrivez la valeur de chaque ligne.',
    ar: 'الخلية مدموجة مع سطور أخرى: ألغوا الدمج واكتبوا قيمة كل سطر.',
    en: 'The cell is merged with other rows: unmerge it and write the value of each row.',
  },
  excludes: {
    fr: 'La colonne «\u00a0{other}\u00a0» est aussi remplie\u00a0: remplissez l’une des deux.',
    ar: 'العمود «{other}» مملوء أيضا: املؤوا واحدا منهما فقط.',
    en: 'The column “{other}” is filled, too: fill one of the two.',
  },
  number_repeated: {
    fr: 'La facture de la ligne {row} porte aussi le numéro {number}.',
    ar: 'تحمل فاتورة السطر {row} الرقم {number} أيضا.',
    en: 'The invoice of row {row} has the number {number}, too.',
  },
  number_issued_otherwise: {
    fr: 'Le numéro {number} a déjà été émis avec un autre contenu ({invoice})\u00a0: utilisez un autre numéro, ou remplacez cette facture.',
    ar: 'سبق إصدار الرقم {number} بمحتوى آخر ({invoice}): استعملوا رقما آخر أو استبدلوا تلك الفاتورة.',
    en: 'The number {number} was issued with other content ({invoice}): use another number, or replace that invoice.',
  },
  row_issued_otherwise: {
    fr: 'Les mêmes lignes ont déjà été émises ({invoice}), mais les colonnes, les nombres ou les dates étaient lus autrement\u00a0: vérifiez cette facture. Si c’est une autre vente, donnez-lui un numéro.',
    ar: 'سبق إصدار السطور نفسها ({invoice})، لكن الأعمدة أو الأعداد أو التواريخ قُرئت بشكل آخر: تحققوا من تلك الفاتورة. إذا كان هذا بيعا آخر فأعطوه رقما.',
    en: 'The same rows were issued already ({invoice}), but columns, numbers or dates were read otherwise: check that invoice. If this is another sale, give it a number.',
  },
};

/** Why a file cannot be read, and the cure. */
const FILE_TEXTS: Readonly<Record<FileFault, Texts>> = {
  empty: { fr: 'Le fichier est vide.', ar: 'الملف فارغ.', en: 'The file is empty.' },
  too_large: {
    fr: 'Le fichier est trop volumineux\u00a0: {most} Mo au plus. Divisez-le.',
    ar: 'الملف كبير جدا: الحد الأقصى هو {most} ميغابايت. قسّموه.',
    en: 'The file is too large: at most {most} MiB. Split it.',
  },
  too_much_unpacked: {
    fr: 'Le contenu du classeur est trop volumineux\u00a0: {most} Mo au plus une fois décompressé.',
    ar: 'محتوى المصنف كبير جدا: الحد الأقصى بعد فك الضغط هو {most} ميغابايت.',
    en: 'The content of the workbook is too large: at most {most} MiB when unpacked.',
  },
  too_many_parts: {
    fr: 'Le classeur contient trop d’éléments\u00a0: {most} au plus.',
    ar: 'يحتوي المصنف على عناصر كثيرة جدا: الحد الأقصى هو {most}.',
    en: 'The workbook has too many parts: at most {most}.',
  },
  too_many_rows: {
    fr: 'Le fichier a trop de lignes\u00a0: {most} au plus. Divisez-le.',
    ar: 'سطور الملف كثيرة جدا: الحد الأقصى هو {most}. قسّموه.',
    en: 'The file has too many rows: at most {most}. Split it.',
  },
  too_many_empty_rows: {
    fr: 'La feuille a plus de {most} lignes vides qui se suivent\u00a0: supprimez les lignes vides sous le tableau, puis enregistrez.',
    ar: 'تتجاوز السطور الفارغة المتتالية في الورقة {most}: احذفوا السطور الفارغة تحت الجدول ثم احفظوا.',
    en: 'The sheet has more than {most} successive empty rows: delete the empty rows below the table, then save.',
  },
  too_many_columns: {
    fr: 'La feuille a trop de colonnes\u00a0: {most} au plus.',
    ar: 'أعمدة الورقة كثيرة جدا: الحد الأقصى هو {most}.',
    en: 'The sheet has too many columns: at most {most}.',
  },
  too_many_cells: {
    fr: 'La feuille a trop de cellules remplies\u00a0: {most} au plus. Divisez-la, ou supprimez les colonnes inutiles.',
    ar: 'الخلايا المملوءة في الورقة كثيرة جدا: الحد الأقصى هو {most}. قسّموها أو احذفوا الأعمدة غير اللازمة.',
    en: 'The sheet has too many cells with content: at most {most}. Split it, or delete the columns that are not needed.',
  },
  too_many_invoices: {
    fr: 'Le fichier a trop de factures\u00a0: {most} au plus. Divisez-le.',
    ar: 'فواتير الملف كثيرة جدا: الحد الأقصى هو {most}. قسّموه.',
    en: 'The file has too many invoices: at most {most}. Split it.',
  },
  not_a_spreadsheet: {
    fr: 'Ce n’est ni un classeur Excel (.xlsx) ni un fichier CSV.',
    ar: 'هذا ليس مصنف Excel (.xlsx) ولا ملف CSV.',
    en: 'This is neither an Excel workbook (.xlsx) nor a CSV file.',
  },
  old_excel: {
    fr: 'C’est un ancien format d’Excel\u00a0: enregistrez le fichier comme classeur Excel (.xlsx).',
    ar: 'هذا تنسيق Excel قديم: احفظوا الملف كمصنف Excel (.xlsx).',
    en: 'This is an old format of Excel: save the file as an Excel workbook (.xlsx).',
  },
  open_document: {
    fr: 'C’est une feuille OpenDocument\u00a0: enregistrez le fichier au format Excel (.xlsx).',
    ar: 'هذا ملف OpenDocument: احفظوا الملف بتنسيق Excel (.xlsx).',
    en: 'This is an OpenDocument file: save it in Excel’s format (.xlsx).',
  },
  web_page: {
    fr: 'C’est une page web ou un fichier XML qui porte le nom d’un tableur\u00a0: ouvrez le fichier, puis enregistrez-le comme classeur Excel (.xlsx).',
    ar: 'هذه صفحة ويب أو ملف XML باسم ملف جداول: افتحوا الملف ثم احفظوه كمصنف Excel (.xlsx).',
    en: 'This is a web page or XML named like a spreadsheet: open the file, then save it as an Excel workbook (.xlsx).',
  },
  encrypted: {
    fr: 'Le fichier est protégé par un mot de passe\u00a0: enregistrez-le sans mot de passe.',
    ar: 'الملف محمي بكلمة سر: احفظوه بدون كلمة سر.',
    en: 'The file is protected by a password: save it without one.',
  },
  macros: {
    fr: 'Le classeur contient des macros\u00a0: enregistrez-le comme classeur Excel sans macros (.xlsx).',
    ar: 'يحتوي المصنف على وحدات ماكرو: احفظوه كمصنف Excel بدون ماكرو (.xlsx).',
    en: 'The workbook has macros: save it as an Excel workbook without macros (.xlsx).',
  },
  external_links: {
    fr: 'Le classeur dépend d’autres fichiers ou de données externes\u00a0: rompez les liaisons (Données, Modifier les liens), puis enregistrez.',
    ar: 'يعتمد المصنف على ملفات أو بيانات خارجية: اقطعوا الارتباطات (بيانات، تحرير الارتباطات) ثم احفظوا.',
    en: 'The workbook depends on other files or external data: break the links (Data, Edit Links), then save.',
  },
  damaged: {
    fr: 'Le fichier est endommagé ou incomplet\u00a0: ouvrez-le dans votre tableur, enregistrez-le, puis envoyez-le de nouveau.',
    ar: 'الملف تالف أو غير كامل: افتحوه في برنامج الجداول واحفظوه ثم أعيدوا إرساله.',
    en: 'The file is damaged or incomplete: open it in your spreadsheet program, save it, and upload it again.',
  },
  bad_encoding: {
    fr: 'Le texte n’est pas du {encoding} valable\u00a0: enregistrez le fichier au format CSV UTF-8.',
    ar: 'النص ليس {encoding} صالحا: احفظوا الملف بتنسيق CSV UTF-8.',
    en: 'The text is no valid {encoding}: save the file as CSV UTF-8.',
  },
  unclosed_quote: {
    fr: 'À la ligne {row}, un guillemet n’est jamais fermé, ou la ligne a plus d’un million de caractères.',
    ar: 'في السطر {row} علامة اقتباس لم تُغلق، أو يتجاوز عدد حروف السطر مليونا.',
    en: 'In row {row} a quotation mark is never closed, or the row has more than a million characters.',
  },
  no_sheet: {
    fr: 'Le classeur n’a aucune feuille visible.',
    ar: 'لا توجد في المصنف أي ورقة ظاهرة.',
    en: 'The workbook has no visible sheet.',
  },
  no_header: {
    fr: 'Aucune des {most} premières lignes ne nomme les colonnes\u00a0: ajoutez une ligne d’en-têtes, ou partez du modèle.',
    ar: 'لا يوجد سطر يسمي الأعمدة (السطور الأولى التي بُحث فيها: {most}): أضيفوا سطر العناوين أو استعملوا النموذج.',
    en: 'None of the first {most} rows names the columns: add a row of headers, or start with the template.',
  },
  too_costly: {
    fr: 'La lecture du fichier demande trop de temps ou de mémoire\u00a0: divisez-le, ou recopiez les données dans le modèle.',
    ar: 'تتطلب قراءة الملف وقتا أو ذاكرة أكثر من اللازم: قسّموه، أو انسخوا البيانات إلى النموذج.',
    en: 'Reading the file takes too much time or memory: split it, or copy the data into the template.',
  },
};

/**
 * Says what is wrong with a row and how to cure it, without its place. For a field that the API refuses it says the
 * field's rule. Otherwise English has the service's message for its codes.
 */
export function importProblemText(
  { code, facts, param = null }: Pick<RowProblem, 'code' | 'facts'> & { readonly param?: string | null },
  language: DocumentLanguage,
): string {
  if (Object.hasOwn(ROW_TEXTS, code)) return filled(ROW_TEXTS[code as RowFault][language], facts, language);
  const isOfField = code === 'invalid_request' || param?.startsWith('seller.');
  const rule = isOfField && param !== null ? fieldRule(param, language) : null;
  if (rule !== null) return rule;
  const { message, expected } = facts;
  const text =
    (ERROR_TEXTS[language] as Readonly<Record<string, string>>)[code] ?? ERROR_TEXTS[language].invalid_request;
  if (code === 'amount_mismatch' && expected !== undefined)
    return `${text} (${FORMATS[language].money(Number(expected), CURRENCY)})`;
  return language === 'en' && message !== undefined ? String(message) : text;
}

/** Says why a file cannot be read, and the cure. */
export function fileFaultText(code: FileFault, facts: RowProblem['facts'], language: DocumentLanguage): string {
  return filled(FILE_TEXTS[code][language], facts, language);
}

/** Fills facts into a text. Rows are written as spreadsheets show them, other numbers as the language does. */
function filled(text: string, facts: RowProblem['facts'], language: DocumentLanguage): string {
  return text.replaceAll(/\{(\w+)\}/g, (_match, fact: string) => {
    const value = facts[fact] ?? '';
    const isAmount = typeof value === 'number' && !/row$/i.test(fact);
    return isAmount ? FORMATS[language].decimal(String(value)) : String(value);
  });
}
