import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Context, Middleware } from 'koa';
import { serviceError } from '../../domain/errors.ts';
import { MOROCCAN_TIME } from '../../domain/morocco/time.ts';
import { isUnchanged, weakEtag } from '../headers.ts';

/** The paths of the pages; `src/dashboard/main.tsx` shows the page of each. */
export const PAGES = [
  '/',
  '/i/:id',
  '/account',
  '/forgotten-password',
  '/join',
  '/new-address',
  '/new-password',
  '/sign-in',
  '/ops',
  '/ops/account',
  '/ops/tenants',
  '/ops/tenants/:id',
  '/ops/entries',
  ...[
    'account',
    'home',
    'invoices',
    'invoices/new',
    'invoices/:id',
    'invoices/:id/credit',
    'invoices/:id/replace',
    'drafts',
    'drafts/:id',
    'deliveries',
    'deliveries/:id',
    'console',
    'endpoints',
    'keys',
    'people',
    'imports',
    'imports/:id',
    'periods',
    'periods/:name',
    'requests',
    'requests/:id',
    'rules',
    'settings',
    'audit',
  ].map((page) => `/tenants/:tenant/:environment/${page}`),
];

/** The folder into which `scripts/build-dashboard.ts` writes the pages. */
const BUILT = new URL('../../../dist/dashboard/', import.meta.url);

/**
 * Allows resources of this origin, and no inline script or style. Requiring Trusted Types without any policy makes
 * browsers refuse every text that a script passes as HTML or as a script. `blob:` is needed for the preview of an
 * invoice, which is not stored.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "frame-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * Builds the content security policy.
 * @param framedBy the sites that may frame a page; usually none, against clickjacking
 */
function policyFor(framedBy: readonly string[]): string {
  return `${POLICY}; frame-ancestors ${framedBy.length === 0 ? "'none'" : framedBy.join(' ')}`;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
};

/** The place in the page for Morocco's UTC offsets: browsers may have older time zone data (docs/decisions/0076). */
const PLACE_OF_OFFSETS = '<meta name="moroccan-time" content=""';
/** The place in the page for the origin of the service, which is the only origin at which passkeys work. */
const PLACE_OF_ORIGIN = '<meta name="service-origin" content=""';
/** Text of the form `2026-03-22T02:00:00Z=60 2026-09-20T01:00:00Z=0`: start of an offset, and minutes from UTC. */
const OFFSETS = MOROCCAN_TIME.changes.map(({ from, minutes }) => `${from}=${minutes}`).join(' ');

interface Pages {
  /** The HTML for every path. Its script shows the page that the path names. */
  readonly page: string;
  readonly pageEtag: string;
  /** The names of the files under `assets/`. Each name contains the digest of the file's contents. */
  readonly assets: ReadonlySet<string>;
}

/**
 * Serves the pages for people (docs/decisions/0054). Every path gets the same HTML, so it reveals nothing about an
 * invoice or a person.
 * @param publicUrl the address of the service for browsers
 * @param built the folder of the built pages
 */
export function dashboard(
  publicUrl: string,
  built: URL = BUILT,
): {
  readonly showPage: (ctx: Context, framedBy?: readonly string[]) => Promise<void>;
  readonly showAsset: Middleware;
} {
  let reading: Promise<Pages> | null = null;
  /** @throws {ServiceError} 503 before the pages are built */
  const pages = (): Promise<Pages> => {
    reading ??= readPages(new URL(publicUrl).origin, built).catch(() => {
      reading = null;
      throw serviceError('internal_error', 'The pages are not built. Run `npm run build`.', null, 503);
    });
    return reading;
  };
  return {
    async showPage(ctx, framedBy = []) {
      const { page, pageEtag } = await pages();
      ctx.set('Content-Security-Policy', policyFor(framedBy));
      ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
      ctx.set('Cache-Control', 'no-cache');
      ctx.set('X-Robots-Tag', 'noindex');
      if (isUnchanged(ctx, pageEtag)) return;
      ctx.type = 'text/html; charset=utf-8';
      ctx.body = page;
    },
    async showAsset(ctx) {
      const { file = '' } = ctx.params as { file?: string };
      const type = MEDIA_TYPES[extname(file)];
      if (type === undefined || !(await pages()).assets.has(file))
        throw serviceError('resource_not_found', 'There is no such file.');
      ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
      ctx.body = await readFile(new URL(`assets/${file}`, built));
      ctx.type = type;
    },
  };
}

async function readPages(origin: string, built: URL): Promise<Pages> {
  const [written, files] = await Promise.all([
    readFile(new URL('index.html', built), 'utf8'),
    readdir(new URL('assets/', built)),
  ]);
  const page = written
    .replace(PLACE_OF_OFFSETS, PLACE_OF_OFFSETS.replace('""', `"${OFFSETS}"`))
    .replace(PLACE_OF_ORIGIN, () => PLACE_OF_ORIGIN.replace('""', () => `"${origin}"`));
  return { page, pageEtag: weakEtag(page), assets: new Set(files) };
}
