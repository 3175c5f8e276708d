/** What the scripts of the site say, by the language of the page. */
export const TEXTS = {
  en: {
    search: 'Search the documentation',
    close: 'Close',
    failed: 'The search could not be loaded. Try again.',
    results: (count) => (count === 0 ? 'Nothing found' : count === 1 ? '1 result' : `${count} results`),
    copy: 'Copy',
    copied: 'Copied',
    examples: 'Language of the examples',
  },
  fr: {
    search: 'Rechercher dans la documentation',
    close: 'Fermer',
    failed: 'La recherche n’a pas pu être chargée. Réessayez.',
    results: (count) => (count === 0 ? 'Aucun résultat' : count === 1 ? '1 résultat' : `${count} résultats`),
    copy: 'Copier',
    copied: 'Copié',
    examples: 'Langage des exemples',
  },
};
