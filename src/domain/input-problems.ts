import type { z } from 'zod';
import { type Problem, problem } from './errors.ts';

/** GraphQL's names of fields whose REST names differ. */
const REST_NAMES: ReadonlyMap<string, string> = new Map([
  ['unitPrice', 'unit_price'],
  ['taxRate', 'tax_rate'],
]);

/**
 * The problems (400) of a failed parse, in the order of the specification's tables, unknown fields last. Paths are REST's in both
 * faces of the API, so that one code base handles both.
 * @param skip how many leading steps of each path are not the client's
 */
export function problemsOf(error: Pick<z.ZodError, 'issues'>, skip = 0): [Problem, ...Problem[]] {
  const known: Problem[] = [];
  const unknown: Problem[] = [];
  for (const issue of error.issues) {
    const path = issue.path.slice(skip).map((part) => REST_NAMES.get(String(part)) ?? String(part));
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        const param = [...path, key].join('.');
        unknown.push(problem('invalid_request', `${param} is not a known field.`, param));
      }
      continue;
    }
    const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    const param = path.length > 0 ? path.join('.') : null;
    known.push(problem('invalid_request', `${param === null ? '' : `${param} `}${message}.`, param));
  }
  const [first, ...rest] = [...known, ...unknown];
  return [first ?? problem('invalid_request', 'The request is not valid.'), ...rest];
}

/** The message of a schema of an object: for unknown fields, and for what is no such object. */
export function objectError(text: string) {
  return (issue: { code?: string | undefined }) => (issue.code === 'unrecognized_keys' ? 'is not a known field' : text);
}
