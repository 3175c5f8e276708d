import { addYears } from '../calendar-date.ts';
import { type Problem, problem } from '../errors.ts';

/**
 * Returns the problem (422) of a day that is too far from the date of its invoice; none if there is no day.
 * @param years how many years before and after that date it may be; absent: none
 * @param name the name of the day in the message
 */
export function dateProblems(
  param: string,
  day: string | null | undefined,
  issueDate: string,
  { before = 0, after = 0 }: { readonly before?: number; readonly after?: number },
  name = param,
): Problem[] {
  // Most invoices state few dates, so limits are computed only for those.
  if (day == null) return [];
  const [first, last] = [addYears(issueDate, -before), addYears(issueDate, after)];
  if (day >= first && day <= last) return [];
  const message = `${name} is ${day}; for an invoice of ${issueDate} it must be from ${first} to ${last}.`;
  return [problem('invalid_date', message, param)];
}
