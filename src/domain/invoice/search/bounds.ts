/** Maximum length of a search, in characters. */
export const LONGEST_SEARCH = 200;
/** Maximum number of words in a search. */
export const MOST_SEARCHED = 12;
