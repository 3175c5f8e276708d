import { MAX_ADDRESS } from '../limits.ts';

/**
 * Minimum length of a password, in characters. Long ones are safer than complicated ones (NIST SP 800-63B, section
 * 3.1.1).
 */
export const MIN_PASSWORD = 12;
/** Maximum lengths of typed texts, in characters. A code is an authenticator's or a recovery code. */
export const PERSON_TEXTS = { email: MAX_ADDRESS, name: 100, password: 128, code: 100, passkeyName: 60 } as const;

/** How long a session lasts, milliseconds. Using it extends it, once an hour. */
export const SESSION_MS = 7 * 86_400_000;
/** How long after the password was entered in a session it may create live documents, milliseconds. */
export const PROOF_MS = 15 * 60_000;
/** Maximum number of listed sessions of a person. The most recently used come first. */
export const MAX_SESSIONS = 100;
/** How long a link that confirms a new address of an account is valid, milliseconds. */
export const NEW_ADDRESS_MS = 3_600_000;
/** How long a link to set a new password is valid, milliseconds. */
export const RESET_MS = 3_600_000;

/**
 * Maximum number of attempts in 15 minutes to sign in or do anything else with a password or its link, per account and
 * per address. `code`: uses of one authenticator code, which is valid for a minute and a half.
 */
export const ATTEMPTS = { account: 20, address: 100, code: 1 } as const;
export const ATTEMPT_WINDOW_MS = 15 * 60_000;

/**
 * Number of wrong codes in a row, over all browsers, after which an account's codes are locked, and for how long,
 * milliseconds.
 */
export const MAX_WRONG_CODES = 10;
export const CODES_LOCKED_MS = 15 * 60_000;

/** Maximum number of passkeys of a person. */
export const MAX_PASSKEYS = 20;
