import { MAX_ADDRESS } from '../limits.ts';

/** Characters of a password. Longer ones are safer than complicated ones (NIST SP 800-63B, section 3.1.1). */
export const MIN_PASSWORD = 12;
/** Maximum lengths of what a person types, in characters. A code is one of an authenticator, or a recovery code. */
export const PERSON_TEXTS = { email: MAX_ADDRESS, name: 100, password: 128, code: 100, passkeyName: 60 } as const;

/** How long a session lasts, milliseconds. Its use prolongs it once an hour. */
export const SESSION_MS = 7 * 86_400_000;
/** Sessions of a person that are listed, those first that were used last. */
export const MAX_SESSIONS = 100;
/** How long the link that confirms another address of an account is valid, milliseconds. */
export const NEW_ADDRESS_MS = 3_600_000;
/** How long the link to a new password is valid, milliseconds. */
export const RESET_MS = 3_600_000;

/**
 * Attempts to sign in, or to do anything else with a password or its link, in 15 minutes; and uses of a code of an
 * authenticator, which is valid for a minute and a half.
 */
export const ATTEMPTS = { account: 20, address: 100, code: 1 } as const;
export const ATTEMPT_WINDOW_MS = 15 * 60_000;

/** Wrong codes in a row, over all browsers, after which the codes of an account are locked; and for how long, milliseconds. */
export const MAX_WRONG_CODES = 10;
export const CODES_LOCKED_MS = 15 * 60_000;

/** Passkeys of a person. */
export const MAX_PASSKEYS = 20;
