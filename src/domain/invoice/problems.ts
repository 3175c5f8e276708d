import type { Problem } from '../authority/ports.ts';

/** Maximum number of problems, or of warnings, that an invoice keeps. */
export const MOST_PROBLEMS = 50;
const MAX_CODE = 100;
const MAX_TEXT = 500;

/** Limits the authority's findings for storage: the first {@link MOST_PROBLEMS}, with texts of bounded length. */
export function boundedProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems.slice(0, MOST_PROBLEMS).map(({ code, path, message }) => ({
    code: cut(code, MAX_CODE),
    path: path === null ? null : cut(path, MAX_TEXT),
    message: cut(message, MAX_TEXT),
  }));
}

function cut(text: string, length: number): string {
  return (text.length <= length ? text : `${text.slice(0, length - 1)}…`).toWellFormed();
}
