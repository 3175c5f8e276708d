import type { DocsLanguage } from './contents.ts';

/** What the frame around the pages says. */
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
  },
} as const satisfies Readonly<Record<DocsLanguage, Readonly<Record<string, string>>>>;
