import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';

/** The query parameter that may accompany `client_secret`. */
export const PUBLISHABLE_KEY = 'publishable_key';

/**
 * Returns what a request says in `Authorization`. A browser's own EventSource cannot send that header. So on the stream
 * of an invoice, and only there, the query may contain `client_secret`, with or without a `publishable_key`. The header
 * takes precedence. No more powerful key is accepted in a URL, because browsers and proxies keep URLs.
 * @throws {ServiceError} invalid_api_key
 */
export function authorizationOf(ctx: Context): string | undefined {
  const header = ctx.get('Authorization');
  if (header !== '' || !/^\/v1\/invoices\/[^/]+\/stream$/.test(ctx.path)) return header || undefined;
  const query = new URLSearchParams(ctx.querystring);
  const [clientSecret, publishableKey] = [query.get('client_secret'), query.get(PUBLISHABLE_KEY)];
  if (publishableKey !== null) return bearer(publishableKey, /^pk_[\w-]+$/, 'publishable key (pk_…)');
  return clientSecret === null ? undefined : bearer(clientSecret, /^inv_[\w-]+_secret_[\w-]+$/, 'client_secret');
}

function bearer(token: string, form: RegExp, what: string): string {
  if (token.length <= 400 && form.test(token)) return `Bearer ${token}`;
  throw serviceError('invalid_api_key', `Without the header Authorization, the query of a stream must have a ${what}.`);
}
