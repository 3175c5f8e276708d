import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import type { DocumentRange } from '../domain/invoice/document-store.ts';
import { byteRange } from './byte-range.ts';

/**
 * Sends a file, or the range of it that the request asks for (RFC 9110, section 14). Its ETag must be set before,
 * because `If-Range` is compared with it.
 * @param size its length in bytes
 * @param read reads the file or a part of it; called for GET only
 * @param mayBePart if false, the whole file is sent, whatever range is requested
 * @throws {ServiceError} 416
 */
export function sendFile(
  ctx: Context,
  size: number,
  read: (range?: DocumentRange) => AsyncIterable<Uint8Array>,
  mayBePart = true,
): void {
  const range = mayBePart && ctx.method === 'GET' && isRangeOfThis(ctx) ? byteRange(ctx.get('Range'), size) : null;
  if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${size}`);
    throw serviceError('invalid_request', `The document has ${size} bytes; the range is beyond its end.`, null, 416);
  }
  ctx.status = range ? 206 : 200;
  if (range) ctx.set('Content-Range', `bytes ${range.first}-${range.last}/${size}`);
  ctx.set('Accept-Ranges', 'bytes');
  const type = ctx.response.get('Content-Type');
  if (ctx.method !== 'HEAD') ctx.body = Readable.from(read(range ?? undefined), { objectMode: false });
  // Koa's setter of the body has changed both.
  ctx.set('Content-Type', type);
  ctx.length = range ? range.last - range.first + 1 : size;
}

/** Whether the Range header applies: If-Range limits it to the version with this ETag (RFC 9110, section 13.1.5). */
function isRangeOfThis(ctx: Context): boolean {
  const condition = ctx.get('If-Range');
  return condition === '' || condition === ctx.response.get('ETag');
}
