import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Context, Middleware } from 'koa';
import { serviceError } from '../domain/errors.ts';
import { isUnchanged, weakEtag } from './headers.ts';

/**
 * The folder and the name of the file that `scripts/build-dashboard.ts` makes from `clients/live`. The folder also has
 * the files of earlier releases.
 */
const [FOLDER, FILE] = [new URL('../../dist/dashboard/live/', import.meta.url), 'fatoura-live.js'];
/** Matches the name of a file that changes with its contents. */
const PINNED = /^fatoura-live-[0-9a-f]{12}\.js$/;

interface Element {
  readonly bytes: Buffer;
  /** Contains the digest of the contents. */
  readonly name: string;
  /** The value of the HTML attribute with this name. */
  readonly integrity: string;
}

/**
 * The routes of the element `<fatoura-invoice>` for pages of any origin (docs/live-pages.md, "The element"): the file
 * at a fixed address, the same file at an address that changes with its contents, its integrity hash, and the files of
 * earlier releases, which pages may have pinned.
 * @param publicUrl the address of the service for browsers
 * @param folder has the file of the running version, and the earlier files under the names that contain their digests
 */
export function liveElement(publicUrl: string, folder: URL = FOLDER): readonly (readonly [string, Middleware])[] {
  let reading: Promise<Element> | null = null;
  /** @throws {ServiceError} 503 before the file is built */
  const element = (): Promise<Element> => {
    reading ??= readElement(new URL(FILE, folder)).catch(() => {
      reading = null;
      throw serviceError('internal_error', 'The element is not built. Run `npm run build`.', null, 503);
    });
    return reading;
  };
  /** Returns the file with this name; null if there is none, or if its contents do not match the digest in the name. */
  const pinned = async (name: string): Promise<Element | null> => {
    const running = await element();
    if (name === running.name || !PINNED.test(name)) return name === running.name ? running : null;
    const released = await readElement(new URL(name, folder)).catch(() => null);
    return released?.name === name ? released : null;
  };
  const send = (ctx: Context, { bytes }: Element, cached: string): void => {
    ctx.set('Cache-Control', cached);
    // Pages with cross-origin isolation load only files with this header from other origins.
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    if (isUnchanged(ctx, weakEtag(bytes))) return;
    ctx.type = 'text/javascript; charset=utf-8';
    ctx.body = bytes;
  };
  return [
    ['/live/v1.js', async (ctx) => send(ctx, await element(), 'public, max-age=300')],
    [
      '/live/v1/:file',
      async (ctx) => {
        const found = await pinned((ctx.params as { file?: string }).file ?? '');
        if (found) return send(ctx, found, 'public, max-age=31536000, immutable');
        throw serviceError('resource_not_found', `There is no such file. ${publicUrl}/live/v1.json has the address.`);
      },
    ],
    [
      '/live/v1.json',
      async (ctx) => {
        const { name, integrity, bytes } = await element();
        const text = JSON.stringify({ url: `${publicUrl}/live/v1/${name}`, integrity, bytes: bytes.length });
        ctx.set('Cache-Control', 'public, max-age=300');
        if (isUnchanged(ctx, weakEtag(text))) return;
        ctx.type = 'application/json; charset=utf-8';
        ctx.body = text;
      },
    ],
  ];
}

async function readElement(file: URL): Promise<Element> {
  const bytes = await readFile(file);
  const name = `fatoura-live-${hash('sha256', bytes, 'hex').slice(0, 12)}.js`;
  return { bytes, name, integrity: `sha384-${hash('sha384', bytes, 'base64')}` };
}
