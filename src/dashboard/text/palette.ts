import type { Language } from './languages.ts';
import { counted } from './plural.ts';

const fr = {
  /** The name of the palette, of its field and of the button that opens it. */
  title: 'Rechercher ou aller à…',
  hint: 'Flèches pour choisir, Entrée pour ouvrir, Échap pour fermer.',
  documents: 'Factures et avoirs',
  pages: 'Pages',
  actions: 'Actions',
  /** The entry that shows all documents which match. */
  all: (typed: string) => `Toutes les factures pour « ${typed} »`,
  searching: 'Recherche en cours…',
  none: 'Rien ne correspond.',
  failed: 'La recherche est impossible pour le moment.',
  found: counted('fr', { one: '# résultat', other: '# résultats' }),
  close: 'Fermer',
  /** In place of the rows of a search that has found nothing yet. */
  goesOn: 'Rien jusqu’ici : la page suivante poursuit la recherche.',
};

const en: typeof fr = {
  title: 'Search or go to…',
  hint: 'Arrows to choose, Enter to open, Escape to close.',
  documents: 'Invoices and credit notes',
  pages: 'Pages',
  actions: 'Actions',
  all: (typed) => `All invoices for “${typed}”`,
  searching: 'Searching…',
  none: 'Nothing matches.',
  failed: 'The search is not possible at the moment.',
  found: counted('en', { one: '# result', other: '# results' }),
  close: 'Close',
  goesOn: 'Nothing so far: the next page continues the search.',
};

const ar: typeof fr = {
  title: 'ابحث أو انتقل إلى…',
  hint: 'الأسهم للاختيار، وEnter للفتح، وEsc للإغلاق.',
  documents: 'الفواتير والإشعارات الدائنة',
  pages: 'الصفحات',
  actions: 'الإجراءات',
  all: (typed) => `كل الفواتير المطابقة لـ «${typed}»`,
  searching: 'جارٍ البحث…',
  none: 'لا شيء يطابق.',
  failed: 'البحث غير ممكن حاليا.',
  found: counted('ar', { zero: 'لا نتيجة', one: 'نتيجة واحدة', two: 'نتيجتان', few: '# نتائج', other: '# نتيجة' }),
  close: 'إغلاق',
  goesOn: 'لا شيء حتى الآن: الصفحة التالية تواصل البحث.',
};

/** The texts of the search by any part, and of the palette that opens with Ctrl-K. */
export type PaletteTexts = typeof fr;

export const PALETTE_TEXTS: Readonly<Record<Language, PaletteTexts>> = { fr, en, ar };
