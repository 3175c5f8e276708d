/** With a number, a password that is hard to guess for a person who knows a name and an address. */
export const HARD_WORDS = 'violet anchor drums';
