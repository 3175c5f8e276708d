import type { Context } from 'koa';
import type { BrowserFacts } from '../domain/person/ports.ts';

/** What a request tells of the browser. */
export function browserOf(ctx: Context): BrowserFacts {
  return { cookie: ctx.get('Cookie') || undefined, userAgent: ctx.get('User-Agent') || undefined, address: ctx.ip };
}
