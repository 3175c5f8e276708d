import { z } from 'zod';
import { type Problem, problem } from './errors.ts';
import { MAX_PROBLEMS } from './limits.ts';

/** Maximum number of characters of a quoted value and of a path. */
const [MAX_SHOWN, MAX_PATH] = [40, 300];

/**
 * Returns the problems (400) of a failed parse, in the order of the contract's tables, unknown fields last, with the
 * names of the schema. At most 100 are listed; a path is cut after 300 characters.
 * @param skip number of leading path steps that are not part of the client's input
 */
export function problemsOf(error: Pick<z.ZodError, 'issues'>, skip = 0): [Problem, ...Problem[]] {
  const known: Problem[] = [];
  const unknown: Problem[] = [];
  for (const issue of error.issues.slice(0, MAX_PROBLEMS)) {
    const path = issue.path.slice(skip).map(String);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, MAX_PROBLEMS)) {
        const param = paramOf([...path, key]);
        unknown.push(problem('invalid_request', `${param} ${issue.message}.`, param));
      }
      continue;
    }
    const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    const param = path.length > 0 ? paramOf(path) : null;
    const values = issue.code === 'invalid_value' ? { expected: issue.values.join(', ') } : {};
    known.push({ ...problem('invalid_request', `${param ?? 'The body'} ${message}.`, param), ...values });
  }
  const [first, ...rest] = [...known, ...unknown].slice(0, MAX_PROBLEMS);
  return [first ?? problem('invalid_request', 'The request is not valid.'), ...rest];
}

/** Formats a path as a problem's `param`. */
export function paramOf(path: readonly string[]): string {
  const param = path.join('.');
  return param.length > MAX_PATH ? `${param.slice(0, MAX_PATH).toWellFormed()}…` : param;
}

/**
 * Makes a schema's message: what is expected and what was sent instead.
 * @param what completes "is required: …" and "must be …"
 */
export function expected(what: string) {
  return ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? `is required: ${what}` : `must be ${what}; ${described(input)} was sent`;
}

function described(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'object') return 'an object';
  return typeof input === 'string' ? JSON.stringify(input.slice(0, MAX_SHOWN)) : String(input);
}

/**
 * Makes the schema of an object with these fields and no others.
 * @param what describes the whole object, as for {@link expected}
 */
export function exactly<Shape extends z.ZodRawShape>(shape: Shape, what: string) {
  const known = Object.keys(shape);
  const instead =
    known.length > 0 ? `; expected ${known.length > 1 ? 'are' : 'is'} ${known.join(', ')}` : '; none is expected';
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `is not known here${instead}` : expected(what)(issue)),
  });
}
