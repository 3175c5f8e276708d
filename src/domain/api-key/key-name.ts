import { LONGEST_KEY_NAME } from '../limits.ts';
import { oneLineText } from '../printable-text.ts';

/** Input rule of a key's name: one line, because tables and audit entries show it. */
export const keyName = oneLineText(LONGEST_KEY_NAME, 'the name of the key');
