import { z } from 'zod';
import { asciiAddress, emailAddress } from '../email-address.ts';
import { exactly, expected } from '../input-problems.ts';
import { oneLineText } from '../printable-text.ts';
import { MAX_NAME, MAX_PASSWORD, MIN_PASSWORD } from './limits.ts';

/**
 * Whether an account can have this address: what the library of the accounts accepts, too. Without a rule for both an
 * invitation could be reserved for an address that never gets an account.
 */
export function isAccountAddress(address: string): boolean {
  return asciiAddress(address) !== null && z.email().safeParse(address).success;
}

const email = emailAddress()
  .refine(isAccountAddress, { error: expected("an e-mail address of letters, digits and the signs . _ + - '") })
  .transform((address) => address.toLowerCase());
const token = z.string({ error: expected('the end of the link, a string') }).max(200, { error: 'is too long' });
/** A password to compare: of any length that is not hostile, so that an answer tells nothing. */
const password = z
  .string({ error: expected('the password, a string') })
  .max(MAX_PASSWORD, { error: `is too long: at most ${MAX_PASSWORD} characters` });
const newPassword = password.min(MIN_PASSWORD, { error: `is too short: at least ${MIN_PASSWORD} characters` });

export const signInInput = exactly({ email, password }, 'a JSON object with email and password');
export const acceptInvitationInput = exactly(
  { token, email, name: oneLineText(MAX_NAME, 'your name'), password: newPassword },
  'a JSON object with token, email, name and password',
);
export const changePasswordInput = exactly(
  { currentPassword: password, newPassword },
  'a JSON object with currentPassword and newPassword',
);
export const requestResetInput = exactly({ email }, 'a JSON object with email');
export const resetPasswordInput = exactly({ token, newPassword }, 'a JSON object with token and newPassword');
