import { z } from 'zod';
import { asciiAddress, emailAddress } from '../email-address.ts';
import { exactly, expected } from '../input-problems.ts';
import { oneLineText } from '../printable-text.ts';
import { MIN_PASSWORD, PERSON_TEXTS } from './limits.ts';
import { typedCode } from './typed-code.ts';

/**
 * Whether an account can have this address; the library of the accounts must accept it, too. Otherwise an invitation
 * could be reserved for an address that never gets an account.
 */
export function isAccountAddress(address: string): boolean {
  return asciiAddress(address) !== null && z.email().safeParse(address).success;
}

const email = emailAddress()
  .refine(isAccountAddress, { error: expected("an e-mail address of letters, digits and the signs . _ + - '") })
  .transform((address) => address.toLowerCase());
const linkEnd = z.string({ error: expected('the end of the link, a string') });
const token = linkEnd.max(200, { error: 'is too long', abort: true });
/** The token contains the address in base64url. */
const addressToken = linkEnd.max(500, { error: 'is too long', abort: true });
const name = oneLineText(PERSON_TEXTS.name, 'your name');
/**
 * A password to compare. It has no minimum length here, so that the answer reveals nothing about the right password.
 */
const password = z
  .string({ error: expected('the password, a string') })
  .max(PERSON_TEXTS.password, { error: `is too long: at most ${PERSON_TEXTS.password} characters`, abort: true });
const newPassword = password.min(MIN_PASSWORD, { error: `is too short: at least ${MIN_PASSWORD} characters` });

export const signInInput = exactly({ email, password }, 'a JSON object with email and password');
export const acceptInvitationInput = exactly(
  { token, email, name, password: newPassword },
  'a JSON object with token, email, name and password',
);
export const readInvitationInput = exactly({ token }, 'a JSON object with token');
export const changePasswordInput = exactly(
  { currentPassword: password, newPassword },
  'a JSON object with currentPassword and newPassword',
);
export const endSessionInput = exactly({ id: z.string().max(100) }, 'a JSON object with id');
export const renameInput = exactly({ name }, 'a JSON object with name');
export const newAddressInput = exactly({ email, password }, 'a JSON object with email and password');
export const confirmAddressInput = exactly({ token: addressToken }, 'a JSON object with token');
export const requestResetInput = exactly({ email }, 'a JSON object with email');
export const resetPasswordInput = exactly({ token, newPassword }, 'a JSON object with token and newPassword');

const code = z
  .string({ error: expected('the code, a string') })
  .max(PERSON_TEXTS.code, { error: 'is too long', abort: true })
  .transform(typedCode);
/** An answer of the browser's authenticator, which the library of the accounts parses. */
const response = z.looseObject({ id: z.string() }, { error: expected('the answer of the authenticator, an object') });

export const passwordInput = exactly({ password }, 'a JSON object with password');
export const codeInput = exactly({ code }, 'a JSON object with code');
export const addPasskeyInput = exactly(
  { name: oneLineText(PERSON_TEXTS.passkeyName, 'a name of the passkey'), response },
  'a JSON object with name and response',
);
export const removePasskeyInput = exactly({ id: z.string().max(100), password }, 'a JSON object with id and password');
export const passkeySignInInput = exactly({ response }, 'a JSON object with response');
export const noInput = exactly({}, 'an empty JSON object');
