import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Middleware } from 'koa';
import { serviceError } from '../../domain/errors.ts';
import { isUnchanged, weakEtag } from '../headers.ts';
import { DOCS_PAGE } from './page.ts';

/**
 * Allows resources of this origin only, and no inline scripts. The icons of the viewer are data URLs. Trusted Types are
 * not required, because the viewer (swagger-ui) shows nothing under a policy that allows none.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const viewer = (name: string) => fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`));

const FILES: Readonly<Record<string, { readonly path: string; readonly type: string }>> = {
  'docs.js': { path: own('docs.js'), type: 'text/javascript' },
  'docs.css': { path: own('docs.css'), type: 'text/css' },
  'swagger-ui-bundle.js': { path: viewer('swagger-ui-bundle.js'), type: 'text/javascript' },
  'swagger-ui.css': { path: viewer('swagger-ui.css'), type: 'text/css' },
};

const PAGE_ETAG = weakEtag(DOCS_PAGE);

/** `/docs`: the documentation page. Its viewer (swagger-ui) is an npm package. */
export const showDocs: Middleware = (ctx) => {
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
  ctx.set('Cache-Control', 'no-cache');
  if (isUnchanged(ctx, PAGE_ETAG)) return;
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = DOCS_PAGE;
};

/** `/docs/<file>`: the scripts and styles of the page. */
export const showDocsFile: Middleware = async (ctx) => {
  const { file = '' } = ctx.params as { file?: string };
  const known = Object.hasOwn(FILES, file) ? FILES[file] : undefined;
  if (!known) throw serviceError('resource_not_found', 'There is no such file.');
  const bytes = await readFile(known.path);
  ctx.set('Cache-Control', 'public, max-age=3600');
  if (isUnchanged(ctx, weakEtag(bytes))) return;
  ctx.type = `${known.type}; charset=utf-8`;
  ctx.body = bytes;
};
