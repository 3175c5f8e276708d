import type { ParsedUrlQuery } from 'node:querystring';
import { serviceError } from '../domain/errors.ts';

/** Maximum number of jobs that one change may name. The dashboard shows 50 on a page. */
const MOST_JOBS = 500;
/** Maximum characters of a text in the query: the name of a job or a part of it. */
const MAX_TEXT = 200;
const MAX_SKIP = 1_000_000;

/**
 * Checks the body of a change of jobs: `{"jobIds": ["65f…"]}`. Agenda would take ids that are not texts, or a value
 * that is not a list, to mean "all jobs".
 * @returns the body with no other members
 * @throws {ServiceError} invalid_request
 */
export function jobIdsIn(body: unknown): { readonly jobIds: readonly string[] } {
  const { jobIds } = Object(body) as Record<string, unknown>;
  const isId = (id: unknown): id is string => typeof id === 'string' && /^[0-9a-f]{24}$/.test(id);
  if (Array.isArray(jobIds) && jobIds.length <= MOST_JOBS && jobIds.every(isId)) return { jobIds };
  throw serviceError(
    'invalid_request',
    `The body must be {"jobIds": ["…"]} with at most ${MOST_JOBS} ids of 24 hexadecimal digits.`,
    'jobIds',
  );
}

/**
 * Checks the query of a search for jobs. A page without a limit would load all jobs into memory.
 * @throws {ServiceError} invalid_request
 */
export function checkSearch(query: ParsedUrlQuery): void {
  const { skip = '0', limit = '50', ...texts } = query;
  if (!isNumber(skip, 0, MAX_SKIP)) throw outOfRange('skip', 0, MAX_SKIP);
  if (!isNumber(limit, 1, MOST_JOBS)) throw outOfRange('limit', 1, MOST_JOBS);
  const long = Object.keys(texts).find((name) => String(texts[name]).length > MAX_TEXT);
  if (long !== undefined)
    throw serviceError('invalid_request', `A parameter may have at most ${MAX_TEXT} characters.`, long.slice(0, 20));
}

const isNumber = (value: unknown, least: number, most: number) =>
  typeof value === 'string' && /^\d{1,7}$/.test(value) && Number(value) >= least && Number(value) <= most;

const outOfRange = (name: string, least: number, most: number) =>
  serviceError('invalid_request', `${name} must be a whole number from ${least} to ${most}.`, name);
