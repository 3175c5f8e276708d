import type { OperationRequest } from '../graphql/compiled-queries.ts';

/** Parses a body as JSON; undefined if it is not JSON. */
export function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * Removes empty members of a body that clients send for absent ones: an empty `operationName`, and the empty arrays
 * that PHP writes for objects without members.
 * @param body any value
 */
export function withoutEmptyMembers(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { operationName, variables, extensions } = body;
  if (operationName !== '' && !Array.isArray(variables) && !Array.isArray(extensions)) return body;
  const isEmpty = (value: unknown) => value === '' || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => !(OPTIONAL.has(name) && isEmpty(value))));
}

/**
 * Returns the document in the body of a request or in its parameters. Empty if there is none.
 * @param parameters any value
 */
export function documentIn(parameters: unknown): string {
  const { query = '' } = membersOf(parameters);
  const texts: readonly unknown[] = Array.isArray(query) ? query : [query];
  return texts.filter((each) => typeof each === 'string').join('');
}

const OPTIONAL = new Set(['operationName', 'variables', 'extensions']);

/**
 * Reads the body of a POST with one operation and no unusual members. Null does not mean that the body is invalid, only
 * that Yoga must decide.
 * @param body any value
 * @param listed returns the text of a listed operation by its SHA-256
 */
export function ordinaryRequest(body: unknown, listed: (sha256: string) => string | null): OperationRequest | null {
  if (!isObject(body)) return null;
  const { query: sent, operationName = null, variables, extensions, ...others } = body;
  const query = extensions == null ? sent : sent == null ? listedQuery(extensions, listed) : null;
  if (typeof query !== 'string' || Object.keys(others).length > 0) return null;
  if (operationName !== null && (typeof operationName !== 'string' || operationName === '')) return null;
  if (variables != null && !isObject(variables)) return null;
  return { query, operationName, variables: variables ?? {} };
}

/** Returns the listed query that `extensions` names by its digest; null if there are other extensions. */
function listedQuery(extensions: unknown, listed: (sha256: string) => string | null): string | null {
  if (!isObject(extensions) || Object.keys(extensions).length > 1) return null;
  const sha256 = persistedDigest({ extensions });
  return sha256 === null ? null : listed(sha256);
}

/** Returns the digest of the operation in the format of Apollo's automatic persisted queries; null if there is none. */
export function persistedDigest(request: unknown): string | null {
  const extensions = isObject(request) ? request.extensions : null;
  const persisted = isObject(extensions) ? extensions.persistedQuery : null;
  return isObject(persisted) && typeof persisted.sha256Hash === 'string' ? persisted.sha256Hash : null;
}

/**
 * Returns the media type that Yoga would choose for this Accept header; null if it is not JSON. Like Yoga, it uses the
 * order of the accepted types and ignores their weights.
 */
export function answerType(accept: string): string | null {
  for (const each of (accept || '*/*').replace(/\s/g, '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = each.split(';');
    if (parameters.some((parameter) => parameter.includes('charset=') && parameter !== 'charset=utf-8')) continue;
    if (type === GRAPHQL_RESPONSE) return GRAPHQL_RESPONSE;
    if (JSON_RANGES.has(type)) return 'application/json';
  }
  return null;
}

const GRAPHQL_RESPONSE = 'application/graphql-response+json';
const JSON_RANGES = new Set(['application/json', 'application/*', '*/json', '*/*']);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum length of an operation's id, in characters. */
export const MAX_OPERATION_ID = 200;

/**
 * Returns the id under which the library will register the operation of a request in graphql-sse's single connection
 * mode. Numbers are ids, too.
 * @returns empty if there is none, or if the library will refuse the request; null if it is neither a text nor a
 * number, too long, or not well-formed
 */
export function operationIdOf(
  { method, url }: { readonly method: string; readonly url: string },
  body: string | Record<string, unknown>,
): string | null {
  const sent =
    method === 'GET'
      ? jsonOf(new URL(url, 'http://localhost').searchParams.get('extensions') ?? '')
      : membersOf(body).extensions;
  const id = membersOf(sent).operationId ?? '';
  if (typeof id !== 'string' && typeof id !== 'number') return null;
  const text = String(id);
  // An id that is not well-formed cannot be part of the URL that stops the operation.
  return text.length <= MAX_OPERATION_ID && text.isWellFormed() ? text : null;
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
