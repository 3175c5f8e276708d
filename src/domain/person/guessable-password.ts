import { type ServiceError, serviceError } from '../errors.ts';
import type { Person } from './person.ts';

/**
 * The refusal of a new password that is easy to guess.
 * @param param the field that has it; `password` may also be meant to be that of an account that there is
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
 * What somebody who guesses this person's password tries first: name and address, the names of the tenants, and the parts
 * of all of them.
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
