import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Context, Middleware } from 'koa';
import { serviceError } from '../../domain/errors.ts';
import { isUnchanged, weakEtag } from '../headers.ts';
import { INTERACTIVE_PAGE } from './interactive-page.ts';

/** The folder into which `scripts/build-docs.ts` writes the documentation. */
const BUILT = new URL('../../../dist/docs/', import.meta.url);

/** Allows resources of this origin only, and no inline script or style; scripts write no HTML. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * The icons of the interactive page's viewer (swagger-ui) are data URLs. Trusted Types are not required there, because
 * the viewer shows nothing if they are required and no policy for them is allowed.
 */
const INTERACTIVE_POLICY = [
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

/** The scripts and styles of the interactive page. */
const INTERACTIVE_FILES: Readonly<Record<string, { readonly path: string; readonly type: string }>> = {
  'docs.js': { path: own('docs.js'), type: 'text/javascript' },
  'docs.css': { path: own('docs.css'), type: 'text/css' },
  'swagger-ui-bundle.js': { path: viewer('swagger-ui-bundle.js'), type: 'text/javascript' },
  'swagger-ui.css': { path: viewer('swagger-ui.css'), type: 'text/css' },
};

/** A file of the built documentation (scripts/docs/write-site.ts). */
interface Entry {
  readonly file: string;
  readonly type: string;
  readonly etag: string;
}

/**
 * The routes of the documentation (docs/decisions/0102): its built pages, each also as Markdown, their assets, the list
 * of pages for programs, and the interactive page. Only the list of files is kept in memory.
 * @param built the folder of the built documentation
 */
export function documentation(built: URL = BUILT): readonly (readonly [string, Middleware])[] {
  let reading: Promise<ReadonlyMap<string, Entry>> | null = null;
  /** @throws {ServiceError} 503 before the documentation is built */
  const entries = (): Promise<ReadonlyMap<string, Entry>> => {
    reading ??= readManifest(built).catch(() => {
      reading = null;
      throw serviceError('internal_error', 'The documentation is not built. Run `npm run build`.', null, 503);
    });
    return reading;
  };
  const show: Middleware = async (ctx) => {
    const found = await entries();
    const entry = found.get(ctx.path);
    if (!entry) return showUnknown(ctx, found);
    forPages(ctx);
    // The names of assets contain the digests of their contents.
    const isAsset = entry.file.startsWith('assets/');
    ctx.set('Cache-Control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache');
    if (isUnchanged(ctx, entry.etag)) return;
    const bytes = await readFile(new URL(entry.file, built));
    ctx.type = `${entry.type}; charset=utf-8`;
    ctx.body = bytes;
  };
  /**
   * Answers a request for an unknown page: redirects a path that ends with an extra slash; otherwise shows people a
   * page about it.
   */
  const showUnknown = async (ctx: Context, found: ReadonlyMap<string, Entry>): Promise<void> => {
    const shorter = ctx.path.replace(/\/$/, '');
    if (found.has(shorter) || Object.hasOwn(INTERACTIVE, shorter)) {
      ctx.status = 301;
      return ctx.redirect(shorter + ctx.search);
    }
    ctx.vary('Accept');
    if (ctx.accepts('html', 'json') === 'json')
      throw serviceError('resource_not_found', 'There is no such page. /llms.txt lists all pages.');
    ctx.vary('Accept-Language');
    const language = ctx.path.startsWith('/docs/fr/') ? 'fr' : ctx.acceptsLanguages('en', 'fr') || 'en';
    const { file, type } = found.get(`not-found-${language}`)!;
    forPages(ctx);
    ctx.set('Cache-Control', 'no-cache');
    ctx.status = 404;
    ctx.type = `${type}; charset=utf-8`;
    ctx.body = await readFile(new URL(file, built));
  };
  return [
    ['/docs', show],
    ['/llms.txt', show],
    ['/docs/{*page}', (ctx, next) => (INTERACTIVE[ctx.path] ?? show)(ctx, next)],
  ];
}

function forPages(ctx: Context): void {
  ctx.set('Content-Security-Policy', POLICY);
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
}

async function readManifest(built: URL): Promise<ReadonlyMap<string, Entry>> {
  const written = await readFile(new URL('manifest.json', built), 'utf8');
  return new Map(Object.entries(JSON.parse(written) as Record<string, Entry>));
}

const INTERACTIVE_ETAG = weakEtag(INTERACTIVE_PAGE);

/** `/docs/interactive`: the contract with a form for each call. Its viewer (swagger-ui) is an npm package. */
const showInteractivePage: Middleware = (ctx) => {
  ctx.set('Content-Security-Policy', INTERACTIVE_POLICY);
  ctx.set('Cache-Control', 'no-cache');
  if (isUnchanged(ctx, INTERACTIVE_ETAG)) return;
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = INTERACTIVE_PAGE;
};

const showInteractiveFile: Middleware = async (ctx) => {
  const file = INTERACTIVE_FILES[ctx.path.slice('/docs/'.length)];
  if (!file) throw serviceError('resource_not_found', 'There is no such file.');
  const bytes = await readFile(file.path);
  ctx.set('Cache-Control', 'public, max-age=3600');
  if (isUnchanged(ctx, weakEtag(bytes))) return;
  ctx.type = `${file.type}; charset=utf-8`;
  ctx.body = bytes;
};

/** The interactive page and its files, by their paths. */
const INTERACTIVE: Readonly<Record<string, Middleware>> = {
  '/docs/interactive': showInteractivePage,
  ...Object.fromEntries(Object.keys(INTERACTIVE_FILES).map((name) => [`/docs/${name}`, showInteractiveFile])),
};
