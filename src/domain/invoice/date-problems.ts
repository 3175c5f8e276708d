import { type Problem, problem } from '../errors.ts';

/**
 * Returns the problem (422) of a day that is too far from the date of its invoice; none if there is no day.
 * @param name how the message calls it @param issueDate the date of the invoice
 */
export function dateProblems(
  param: string,
  day: string | null | undefined,
  first: string,
  last: string,
  issueDate: string,
  name = param,
): Problem[] {
  if (day == null || (day >= first && day <= last)) return [];
  const message = `${name} is ${day}; for an invoice of ${issueDate} it must be from ${first} to ${last}.`;
  return [problem('invalid_date', message, param)];
}
