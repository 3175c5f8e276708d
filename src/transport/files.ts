import type { Context, Middleware } from 'koa';
import { serviceError } from '../domain/errors.ts';
import type { DocumentKind, ReadDocument } from '../domain/invoice/read-document.ts';

const TYPES: Readonly<Record<DocumentKind, string>> = { xml: 'application/xml; charset=utf-8', pdf: 'application/pdf' };

/** The path of a document: `/files/<invoice id>/<capability>.<kind>`. */
export function documentPath(invoiceId: string, kind: DocumentKind, token: string): string {
  return `/files/${invoiceId}/${token}.${kind}`;
}

/** `/files/…`: the documents behind `xml_url` and `pdf_url` (design, section 5, "documents"). */
export function files(readDocument: ReadDocument): Middleware {
  return async (ctx: Context) => {
    const { id, file } = ctx.params as { id: string; file: string };
    const [, token, kind] = /^([\w-]+)\.(xml|pdf)$/.exec(file) ?? [];
    if (token === undefined) throw serviceError('resource_not_found', 'There is no such document.');
    const bytes = await readDocument(id, kind as DocumentKind, token);
    if (!bytes) {
      ctx.set('Retry-After', '10');
      throw serviceError('internal_error', 'The PDF is still being made. Try again in a few seconds.', null, 503);
    }
    ctx.set('Content-Type', TYPES[kind as DocumentKind]);
    ctx.set('Content-Disposition', `inline; filename="${id}.${kind}"`);
    ctx.set('Cache-Control', 'private, max-age=31536000, immutable');
    // A document is hostile until proven otherwise: it runs nothing in this origin.
    ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    ctx.body = Buffer.from(bytes);
  };
}
