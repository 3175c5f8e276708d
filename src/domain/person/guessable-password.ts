import { type ServiceError, serviceError } from '../errors.ts';
import type { Person } from './person.ts';

/**
 * Makes the error for a new password that is easy to guess.
 * @param param the field with the password; `password` may also be the password of an existing account
 */
export function guessablePassword(param: 'password' | 'newPassword'): ServiceError {
  const ofAccount = param === 'password' ? ' Whoever has an account already sends its password.' : '';
  return serviceError(
    'invalid_request',
    `${param} is easy to guess: it repeats itself, or is made of usual words, names, dates or rows of keys. Take four words that have nothing to do with one another, or let a password manager make one.${ofAccount}`,
    param,
  );
}

/**
 * Returns the words that an attacker tries first for this person: name and address, the names of the tenants, and the
 * parts of all of them.
 */
export function familiarWords(
  { email, name }: Pick<Person, 'email' | 'name'>,
  tenantNames: Iterable<string> = [],
): string[] {
  const whole = [name, email, ...tenantNames];
  return [...new Set(whole.flatMap((each) => [each, ...each.split(/[^\p{L}\p{N}]+/u)]))].filter(
    (word) => word.length > 2,
  );
}
