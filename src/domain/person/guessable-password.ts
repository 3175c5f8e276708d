import { type ServiceError, serviceError } from '../errors.ts';
import type { Person } from './person.ts';

/** The refusal of a new password that is easy to guess. @param param the field that has it */
export function guessablePassword(param: 'password' | 'newPassword'): ServiceError {
  return serviceError(
    'invalid_request',
    `${param} is easy to guess: it repeats itself, or is made of usual words, names, dates or rows of keys. Take four words that have nothing to do with one another, or let a password manager make one.`,
    param,
  );
}

/** What somebody who guesses this person's password tries first: name and address, and their parts. */
export function familiarWords({ email, name }: Pick<Person, 'email' | 'name'>): string[] {
  return [name, email, ...name.split(/\s+/), ...email.split(/[^a-z0-9]+/i)].filter((word) => word.length > 2);
}
