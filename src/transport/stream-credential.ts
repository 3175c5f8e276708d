import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';

/** The parameter beside `client_secret`. */
export const PUBLISHABLE_KEY = 'publishable_key';

/**
 * What a request says in `Authorization`. A browser's own EventSource can send no header, so on the stream of an invoice,
 * and there alone, the query may say it instead: `client_secret`, with a `publishable_key` or without. The header wins. No
 * key that can do more is taken from an address, which browsers and proxies keep.
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
