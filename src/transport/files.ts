import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { serviceError } from '../domain/errors.ts';
import { DOCUMENT_KINDS, DOCUMENTS, type DocumentKind } from '../domain/invoice/documents.ts';
import type { ReadableDocument, ReadDocument } from '../domain/invoice/read-document.ts';
import { byteRange } from './byte-range.ts';
import { isUnchanged } from './headers.ts';

const KIND_OF_SUFFIX = new Map<string, DocumentKind>(DOCUMENT_KINDS.map((kind) => [DOCUMENTS[kind].suffix, kind]));

const LATER = 'Try again in a few seconds.';
const FROM_AUTHORITY = `The tax authority has accepted the invoice; its document is still to come. ${LATER}`;
const COMING: Readonly<Record<DocumentKind, string>> = {
  xml: FROM_AUTHORITY,
  pdf: `The PDF is still being rendered. ${LATER}`,
  signedXml: LATER,
  receipt: FROM_AUTHORITY,
};

/** Returns the path of a document: `/files/<invoice id>/<capability>.<suffix of the kind>`. */
export function documentPath(invoiceId: string, kind: DocumentKind, token: string): string {
  return `/files/${invoiceId}/${token}.${DOCUMENTS[kind].suffix}`;
}

/**
 * Serves `/files/…`, the documents of an invoice (docs/decisions/0017). Streams them from the store, with conditional
 * requests and range requests as in RFC 9110.
 */
export function files(readDocument: ReadDocument): Middleware {
  return async (ctx: Context) => {
    const { id, file } = ctx.params as { id: string; file: string };
    const [, token = '', suffix = ''] = /^([\w-]+)\.([\w.]+)$/.exec(file) ?? [];
    const kind = KIND_OF_SUFFIX.get(suffix);
    if (kind === undefined) throw serviceError('resource_not_found', 'There is no such document.');
    const document = await readDocument(id, kind, token);
    if (!document) {
      ctx.set('Retry-After', '10');
      throw serviceError('internal_error', COMING[kind], null, 503);
    }
    // The bytes never change, but the URL may be revoked, so clients must revalidate, which costs a 304. `no-transform`
    // keeps proxies from changing signed bytes.
    ctx.set('Cache-Control', 'private, no-cache, no-transform');
    if (isUnchanged(ctx, `"${document.sha256}"`)) return;
    ctx.status = 200;
    send(ctx, document, kind);
  };
}

/** Sends the document or the requested range. @throws {ServiceError} 416 */
function send(ctx: Context, document: ReadableDocument, kind: DocumentKind): void {
  const { size } = document;
  const range = ctx.method === 'GET' && isRangeOfThis(ctx) ? byteRange(ctx.get('Range'), size) : null;
  if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${size}`);
    throw serviceError('invalid_request', `The document has ${size} bytes; the range is beyond its end.`, null, 416);
  }
  if (range) {
    ctx.status = 206;
    ctx.set('Content-Range', `bytes ${range.first}-${range.last}/${size}`);
  }
  ctx.attachment(document.name, { type: 'inline' });
  const { mediaType } = DOCUMENTS[kind];
  const isXml = mediaType === 'application/xml';
  ctx.set('Content-Type', isXml ? `${mediaType}; charset=utf-8` : mediaType);
  ctx.set('Accept-Ranges', 'bytes');
  ctx.set('X-Robots-Tag', 'noindex');
  // XML shown by a browser could load a style sheet or run a script. PDFs get no sandbox: they need none, and PDF
  // viewers do not work in one.
  if (isXml) ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  if (ctx.method !== 'HEAD') ctx.body = Readable.from(document.read(range ?? undefined));
  ctx.length = range ? range.last - range.first + 1 : size;
}

/** Whether the Range header applies: If-Range limits it to the version with this ETag (RFC 9110, section 13.1.5). */
function isRangeOfThis(ctx: Context): boolean {
  const condition = ctx.get('If-Range');
  return condition === '' || condition === ctx.response.get('ETag');
}
