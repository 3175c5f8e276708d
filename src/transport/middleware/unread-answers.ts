import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import type { MemoryBudget } from '../../domain/kit/memory-budget.ts';
import { callerOf, sharerOf } from '../../domain/principal.ts';
import { abandon } from '../abandon.ts';
import type { RequestState } from '../state.ts';
import { COUNTED_BYTES } from '../unread-answers.ts';
import { whenGone } from '../when-gone.ts';

/** Maximum memory of a stream while it is sent, bytes: two chunks of a stored document. */
const STREAMED_BYTES = 512 * 1024;
/** Memory of an unanswered request without its headers, and memory of each header besides its text, bytes. */
const [REQUEST_BYTES, HEADER_BYTES] = [12 * 1024, 100];

/**
 * Limits the memory of finished answers that clients have not read, however slowly they read. Beyond the limit, the
 * sharer with the most unread bytes loses its oldest answer, whose connection is reset. So the secret keys and people
 * of one tenant cannot make another tenant lose its answers, and publishable keys cannot make either lose them. All
 * holders of client_secrets are one sharer (docs/decisions/0031), as are all callers without a credential. Streams
 * count their messages themselves. An answer queued behind others of its connection counts together with its request,
 * which is kept as long.
 */
export function limitUnread(unread: MemoryBudget): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      count(ctx);
    }
  };

  function count(ctx: Context): void {
    const isQueued = ctx.res.socket === null;
    const bytes = bytesOf(ctx);
    if (bytes < COUNTED_BYTES && !isQueued) return;
    // While a text is sent, Node keeps it and a buffer of three times its length.
    if (typeof ctx.body === 'string') ctx.body = Buffer.from(ctx.body);
    const { identity } = ctx.state as RequestState;
    const sharer = identity && 'principal' in identity ? sharerOf(identity.principal) : '';
    const all = bytes + (isQueued ? requestBytes(ctx) : 0);
    const caller = identity && 'principal' in identity ? callerOf(identity.principal) : '';
    const remove = unread.add(sharer, { bytes: all, drop: () => abandon(ctx.req.socket) }, caller);
    whenGone(ctx.res, remove);
  }
}

/** Estimates the memory of a request until it is answered, in bytes. */
function requestBytes({ req: { url = '', rawHeaders } }: Context): number {
  const text = rawHeaders.reduce((sum, { length }) => sum + length, url.length);
  return REQUEST_BYTES + text + (rawHeaders.length / 2) * HEADER_BYTES;
}

/** Returns how many bytes this answer takes in memory while it is sent. */
function bytesOf(ctx: Context): number {
  if (ctx.method === 'HEAD') return 0;
  if (ctx.respond === false) return ctx.res.writableLength;
  const { body, length } = ctx;
  if (!ctx.writable || !body) return 0;
  if (typeof body === 'string' || Buffer.isBuffer(body)) return length;
  return body instanceof Readable ? Math.min(length ?? STREAMED_BYTES, STREAMED_BYTES) : 0;
}
