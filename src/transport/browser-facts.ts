import type { Context } from 'koa';
import type { BrowserFacts } from '../domain/person/ports.ts';
import { MOST_USER_AGENT, type Origin } from '../domain/principal.ts';
import { requestIdOf } from './state.ts';

/** Returns what a request says about the browser that sent it. */
export function browserOf(ctx: Context): BrowserFacts {
  const cookie = canonicalCookies(ctx.get('Cookie')) || undefined;
  return { cookie, userAgent: ctx.get('User-Agent') || undefined, address: ctx.ip };
}

/** A name and a value of RFC 6265, section 4.1.1, without quotes. */
const COOKIE = /^[\w!#$%&'*+.^`|~-]+=[!#-+\--:<-[\]-~]*$/;

/**
 * Writes the header `Cookie` so that every parser reads the same cookies: each name once, with its first value. Parsers
 * differ in spaces, quotes and names that occur twice, so that the code that counts an attempt could read another
 * cookie than the library that compares it. Leaves out what RFC 6265 does not allow; this service sets no such cookie.
 */
export function canonicalCookies(header: string): string {
  const found = new Map<string, string>();
  for (const pair of header.split(';').map((each) => each.trim())) {
    const name = pair.slice(0, pair.indexOf('='));
    if (COOKIE.test(pair) && !found.has(name)) found.set(name, pair);
  }
  return [...found.values()].join('; ');
}

/** Returns the origin of a request, for the audit log. */
export function originOf(ctx: Context): Origin {
  const userAgent = ctx.get('User-Agent').slice(0, MOST_USER_AGENT) || null;
  return { requestId: requestIdOf(ctx), address: ctx.ip, userAgent };
}
