import type { Context } from 'koa';
import type { BrowserFacts } from '../domain/person/ports.ts';
import { MOST_USER_AGENT, type Origin } from '../domain/principal.ts';
import { requestIdOf } from './state.ts';

/** Returns what a request says about the browser that sent it. */
export function browserOf(ctx: Context): BrowserFacts {
  return { cookie: ctx.get('Cookie') || undefined, userAgent: ctx.get('User-Agent') || undefined, address: ctx.ip };
}

/** Returns the origin of a request, for the audit log. */
export function originOf(ctx: Context): Origin {
  const userAgent = ctx.get('User-Agent').slice(0, MOST_USER_AGENT) || null;
  return { requestId: requestIdOf(ctx), address: ctx.ip, userAgent };
}
