import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';

/** Maximum number of headers of a request. Common proxies forward no more. */
export const MAX_HEADERS = 100;

/**
 * Counts how often a request has a header (`name` in lower case). Node keeps only the first of some headers, and joins
 * others.
 */
export function countOf(ctx: Context, name: string): number {
  const { rawHeaders } = ctx.req;
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i];
    if (each?.length === name.length && each.toLowerCase() === name) count++;
  }
  return count;
}

/**
 * Returns the value of a header that must not be repeated.
 * @returns undefined when it is absent
 * @throws {ServiceError} invalid_request when it is sent twice
 */
export function singleHeader(ctx: Context, name: string): string | undefined {
  const value = ctx.headers[name.toLowerCase()];
  if (value === undefined) return undefined;
  if (countOf(ctx, name.toLowerCase()) > 1)
    throw serviceError('invalid_request', `The header ${name} must be sent once.`, name);
  return String(value);
}

/**
 * Decodes a header as UTF-8, which clients send. Node decodes each octet as ISO 8859-1. A value that is not valid UTF-8
 * is returned in that form.
 */
export function decodedHeader(value: string): string {
  const octets = Buffer.from(value, 'latin1');
  return isUtf8(octets) ? octets.toString('utf8') : value;
}

/** Computes a weak ETag of the content (RFC 9110, section 8.8.3), equal for every content coding. */
export function weakEtag(content: string | Uint8Array): string {
  return `W/"${hash('sha256', content, 'base64url').slice(0, 27)}"`;
}

/**
 * Sets the ETag of the answer, and the status 304 if the client has that representation. Only If-None-Match decides, by
 * weak comparison (RFC 9110, sections 8.8.3.2 and 13.1.2). Koa's `fresh` is not used: it ignores If-None-Match when the
 * request has `Cache-Control: no-cache`, which fetch() adds to conditional requests.
 * @returns whether the answer is complete
 */
export function isUnchanged(ctx: Context, etag: string): boolean {
  ctx.set('ETag', etag);
  const condition = ctx.headers['if-none-match'];
  if (condition === undefined) return false;
  const tags: readonly string[] = condition.match(OPAQUE_TAG) ?? [];
  const known = condition.trim() === '*' || tags.includes(etag.replace(/^W\//, ''));
  if (!known) return false;
  ctx.status = 304;
  // A 304 needs the Vary header that the 200 would have (RFC 9110, section 15.4.5). Content with a strong ETag has one
  // coding only.
  if (etag.startsWith('W/')) ctx.vary('Accept-Encoding');
  return true;
}

/** An entity tag without the prefix `W/`. */
const OPAQUE_TAG = /"[^"]*"/g;
