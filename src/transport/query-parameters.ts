import type { Context } from 'koa';
import { DOCUMENT_LANGUAGES, type DocumentLanguage } from '../domain/document-language.ts';
import { serviceError } from '../domain/errors.ts';

/** Maximum length of the name of a parameter in an error, in characters. */
const LONGEST = 100;

/**
 * Refuses a request that has other parameters.
 * @param known the message, which names the known ones
 * @throws {ServiceError} invalid_request
 */
export function refuseOthers(others: Context['query'], known: string): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw serviceError('invalid_request', known, unknown.slice(0, LONGEST));
}

/** Returns the only parameter that a request may have. @throws {ServiceError} invalid_request for another one */
export function onlyParameter(ctx: Context, name: string): string | string[] | undefined {
  const { [name]: value, ...others } = ctx.query;
  refuseOthers(others, `The only parameter is ${name}.`);
  return value;
}

/**
 * Returns the language of the only parameter, otherwise of Accept-Language, otherwise French.
 * @throws {ServiceError} invalid_request for another language or parameter
 */
export function languageOf(ctx: Context, name: string): DocumentLanguage {
  return languageIn(ctx, onlyParameter(ctx, name), name);
}

/**
 * Does what {@link languageOf} does, for a parameter that was already read.
 * @throws {ServiceError} invalid_request for another language
 */
export function languageIn(ctx: Context, asked: string | string[] | undefined, name: string): DocumentLanguage {
  if (asked === undefined) return (ctx.acceptsLanguages([...DOCUMENT_LANGUAGES]) || 'fr') as DocumentLanguage;
  const language = DOCUMENT_LANGUAGES.find((each) => each === asked);
  if (language) return language;
  throw serviceError('invalid_request', `${name} must be ${DOCUMENT_LANGUAGES.join(', ')}.`, name);
}
