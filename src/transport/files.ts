import type { Context, Middleware } from 'koa';
import { serviceError } from '../domain/errors.ts';
import { DOCUMENT_KINDS, DOCUMENTS, type DocumentKind } from '../domain/invoice/documents.ts';
import type { ReadableDocument, ReadDocument } from '../domain/invoice/read-document.ts';
import { isUnchanged } from './headers.ts';
import { sendFile } from './send-file.ts';

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
    send(ctx, document, kind);
  };
}

/** Sends the document or the requested range. @throws {ServiceError} 416 */
function send(ctx: Context, document: ReadableDocument, kind: DocumentKind): void {
  ctx.attachment(document.name, { type: 'inline' });
  const { mediaType } = DOCUMENTS[kind];
  const isXml = mediaType === 'application/xml';
  ctx.set('Content-Type', isXml ? `${mediaType}; charset=utf-8` : mediaType);
  ctx.set('X-Robots-Tag', 'noindex');
  // XML shown by a browser could load a style sheet or run a script. PDFs get no sandbox: they need none, and PDF
  // viewers do not work in one.
  if (isXml) ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  sendFile(ctx, document.size, document.read);
}
