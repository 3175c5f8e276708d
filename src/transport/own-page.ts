import type { Context } from 'koa';

/**
 * Whether a request comes from a page of this origin or from a client that is not a browser. Over plain HTTP to other
 * machines, browsers send no `Sec-Fetch-Site`, only `Origin`. Other clients send neither.
 */
export function isOwnPage(ctx: Context): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin' || site === 'none';
  const origin = ctx.get('Origin');
  return origin === '' || URL.parse(origin)?.host === ctx.host.toLowerCase();
}
