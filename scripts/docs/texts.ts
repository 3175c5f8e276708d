import type { DocsLanguage } from './contents.ts';

/** The texts of the frame around the pages. */
export const TEXTS = {
  en: {
    site: 'Fatoura documentation',
    skip: 'Skip to content',
    menu: 'Menu',
    pages: 'Pages',
    overview: 'Overview',
    onThisPage: 'On this page',
    search: 'Search',
    otherLanguage: 'Français',
    inEnglish: '',
    interactive: 'Try the API',
    asMarkdown: 'This page as Markdown',
    previous: 'Previous',
    next: 'Next',
    table: 'Table',
    code: 'Code',
    notFound: {
      title: 'Page not found',
      explanation: 'The documentation has no page at this address. Search for it, or begin with one of these.',
      home: 'First page',
      quickStart: 'Quick start',
      errors: 'Errors',
    },
  },
  fr: {
    site: 'Documentation de Fatoura',
    skip: 'Aller au contenu',
    menu: 'Menu',
    pages: 'Pages',
    overview: 'Aperçu',
    onThisPage: 'Sur cette page',
    search: 'Rechercher',
    otherLanguage: 'English',
    inEnglish: ' (en anglais)',
    interactive: 'Essayer l’API',
    asMarkdown: 'Cette page en Markdown',
    previous: 'Précédent',
    next: 'Suivant',
    table: 'Tableau',
    code: 'Code',
    notFound: {
      title: 'Page introuvable',
      explanation:
        'La documentation n’a aucune page à cette adresse. Cherchez-la, ou commencez par l’une de celles-ci.',
      home: 'Première page',
      quickStart: 'Démarrage rapide',
      errors: 'Erreurs',
    },
  },
} as const satisfies Readonly<Record<DocsLanguage, unknown>>;
