import type { Context } from 'koa';
import { isUnchanged, weakEtag } from './headers.ts';

/** Answers JSON that caches must not store (`no-store` is set by default), because it may contain one-time secrets. */
export function answerJson(ctx: Context, status: number, body: unknown): void {
  ctx.status = status;
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = JSON.stringify(body);
}

/**
 * Answers a read with a weak ETag of the content, which is equal for every content coding, or with 304 if the client
 * has that content (RFC 9110, section 13.1.2). Only the client's own cache may store the answer, and it must revalidate
 * it.
 */
export function answerRead(ctx: Context, body: unknown): void {
  const text = JSON.stringify(body);
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.vary('Authorization');
  if (isUnchanged(ctx, weakEtag(text))) return;
  ctx.status = 200;
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = text;
}
