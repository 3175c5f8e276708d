import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';

/** How often a request carries a header, given in lower case. Node keeps the first of some and joins others. */
export function countOf(ctx: Context, name: string): number {
  const { rawHeaders } = ctx.req;
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i];
    if (each?.length === name.length && each.toLowerCase() === name) count++;
  }
  return count;
}

/** A header that has one meaning. @returns undefined when it is absent @throws {ServiceError} invalid_request when it is sent twice */
export function singleHeader(ctx: Context, name: string): string | undefined {
  const value = ctx.headers[name.toLowerCase()];
  if (value === undefined) return undefined;
  if (countOf(ctx, name.toLowerCase()) > 1)
    throw serviceError('invalid_request', `The header ${name} must be sent once.`, name);
  return String(value);
}

/**
 * A header's text as its client wrote it. Node reads each octet as a character of ISO 8859-1; clients write UTF-8, and what is no UTF-8 stays
 * as Node read it.
 */
export function decodedHeader(value: string): string {
  const octets = Buffer.from(value, 'latin1');
  return isUtf8(octets) ? octets.toString('utf8') : value;
}

/** A weak ETag over what is shown (RFC 9110, section 8.8.3): the same in each content coding. */
export function weakEtag(content: string | Uint8Array): string {
  return `W/"${hash('sha256', content, 'base64url').slice(0, 27)}"`;
}

/**
 * Gives the answer its ETag, and the status 304 where the client has that representation already: If-None-Match alone decides, by weak
 * comparison (RFC 9110, sections 8.8.3.2 and 13.1.2). Koa's `fresh` is not used: it takes the `Cache-Control: no-cache` that fetch()
 * sends with each condition of its caller for a wish to have everything anew.
 * @returns whether nothing is left to be sent
 */
export function isUnchanged(ctx: Context, etag: string): boolean {
  ctx.set('ETag', etag);
  const condition = ctx.headers['if-none-match'];
  if (condition === undefined) return false;
  const tags: readonly string[] = condition.match(OPAQUE_TAG) ?? [];
  const known = condition.trim() === '*' || tags.includes(etag.replace(/^W\//, ''));
  if (!known) return false;
  ctx.status = 304;
  // What a 200 would say (RFC 9110, section 15.4.5). A strong tag is of bytes that have one coding.
  if (etag.startsWith('W/')) ctx.vary('Accept-Encoding');
  return true;
}

/** An entity tag without its mark of weakness. */
const OPAQUE_TAG = /"[^"]*"/g;
