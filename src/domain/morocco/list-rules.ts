import { isCalendarDate } from '../calendar-date.ts';
import { serviceError } from '../errors.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { Rule } from './rule.ts';
import { rulesFrom } from './rules.ts';
import { moroccanDate } from './time.ts';

/**
 * Returns the rules that are in force on a day, come into force later, or are announced. They are the same for every
 * tenant.
 * @throws {ServiceError} invalid_request unless the date is one
 */
export const rules = {
  scope: 'read',
  run(_needs: object, _call: Call, date: string | null): readonly Rule[] {
    if (date !== null && !(date.length === 10 && isCalendarDate(date)))
      throw serviceError('invalid_request', 'date must be a date such as 2026-01-31.', 'date');
    return rulesFrom(date ?? moroccanDate(new Date()));
  },
} as const satisfies UseCase;
