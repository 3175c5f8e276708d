import type { Context, Middleware } from 'koa';
import compress from 'koa-compress';

/** The size from which bodies are compressed, bytes. Smaller ones fit in one packet. */
const THRESHOLD = 1400;

/**
 * Compresses answers to GET with gzip or Brotli. Answers to other methods are not compressed: only they can contain
 * secrets together with input of the client, and the length of a compressed body shows whether the two have text in
 * common (BREACH). Streams are not compressed.
 */
export function compressReads(): Middleware {
  const negotiate = compress({ threshold: THRESHOLD, zstd: false, deflate: false });
  const compressed: Middleware = async (ctx, next) => {
    await next();
    if (ctx.respond === false) return;
    const { body } = ctx;
    if (typeof body !== 'string' && !Buffer.isBuffer(body)) return;
    if (body.length >= THRESHOLD && acceptsAny(ctx)) await negotiate(ctx, async () => undefined);
    else ctx.vary('Accept-Encoding');
  };
  /**
   * Whether the client accepts the body in some form. If not, because it refuses even an uncompressed body
   * (`identity;q=0`), the body is sent uncompressed: the library would throw.
   */
  const acceptsAny = (ctx: Context) => ctx.acceptsEncodings('br', 'gzip', 'identity') !== false;
  return (ctx, next) => (ctx.method === 'GET' ? compressed(ctx, next) : next());
}
