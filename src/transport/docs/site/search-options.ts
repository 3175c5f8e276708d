/** The options that the search and the build of its index have in common. */
export const SEARCH_OPTIONS = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'language'],
  /**
   * Splits a text into words and names of the API: `client_secret` is found as a whole, by `client` and by `secret`.
   */
  tokenize: (text: string): string[] => {
    const words = text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '');
    return words.flatMap((word) =>
      word.includes('_') ? [word, ...word.split('_').filter((part) => part !== '')] : [word],
    );
  },
  /** Removes case and accents: `remise` finds `Remisé`. */
  processTerm: (term: string): string => term.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase(),
};
