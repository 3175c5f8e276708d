import type { Middleware } from 'koa';
import compress from 'koa-compress';

/** Bytes below which a body is not worth it: it fits one packet as it is. */
const THRESHOLD = 1400;

/**
 * gzip and Brotli for what is read. Never for answers to other methods, the only ones that show secrets beside what the client sent: the
 * length of a compressed body tells whether one repeats the other (BREACH). Nor for streams, which pass this by.
 */
export function compressReads(): Middleware {
  const negotiate = compress({ threshold: THRESHOLD, zstd: false, deflate: false });
  const compressed: Middleware = async (ctx, next) => {
    await next();
    if (ctx.respond === false) return;
    const { body } = ctx;
    if ((typeof body === 'string' || Buffer.isBuffer(body)) && body.length >= THRESHOLD)
      await negotiate(ctx, async () => undefined);
    else if (typeof body === 'string') ctx.vary('Accept-Encoding');
  };
  return (ctx, next) => (ctx.method === 'GET' ? compressed(ctx, next) : next());
}
