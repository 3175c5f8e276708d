import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Middleware } from 'koa';
import { serviceError } from '../domain/errors.ts';
import { isUnchanged, weakEtag } from './headers.ts';

/** The file that `scripts/build-dashboard.ts` makes of `clients/live`. */
const [FOLDER, FILE] = [new URL('../../dist/dashboard/live/', import.meta.url), 'fatoura-live.js'];

interface Element {
  readonly bytes: Buffer;
  /** Contains the digest of the contents. */
  readonly name: string;
  /** For the attribute of the same name. */
  readonly integrity: string;
}

/**
 * The routes of the element `<fatoura-invoice>` for pages of any origin (docs/live-pages.md, "The element"): the file at
 * an address that stays, the same file at an address that changes with its contents, and its integrity hash.
 * @param publicUrl the address of the service for browsers
 */
export function liveElement(publicUrl: string): readonly (readonly [string, Middleware])[] {
  let reading: Promise<Element> | null = null;
  /** @throws {ServiceError} 503 before the file is built */
  const element = (): Promise<Element> => {
    reading ??= readElement().catch(() => {
      reading = null;
      throw serviceError('internal_error', 'The element is not built. Run `npm run build`.', null, 503);
    });
    return reading;
  };
  const send =
    (cached: string): Middleware =>
    async (ctx) => {
      const { bytes } = await element();
      ctx.set('Cache-Control', cached);
      // Pages that isolate themselves load nothing else from other origins.
      ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
      if (isUnchanged(ctx, weakEtag(bytes))) return;
      ctx.type = 'text/javascript; charset=utf-8';
      ctx.body = bytes;
    };
  const sendForGood = send('public, max-age=31536000, immutable');
  return [
    ['/live/v1.js', send('public, max-age=300')],
    [
      '/live/v1/:file',
      async (ctx, next) => {
        if ((ctx.params as { file?: string }).file !== (await element()).name)
          throw serviceError('resource_not_found', `There is no such file. ${publicUrl}/live/v1.json has the address.`);
        await sendForGood(ctx, next);
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

async function readElement(): Promise<Element> {
  const bytes = await readFile(new URL(FILE, FOLDER));
  const name = `fatoura-live-${hash('sha256', bytes, 'hex').slice(0, 12)}.js`;
  return { bytes, name, integrity: `sha384-${hash('sha384', bytes, 'base64')}` };
}
