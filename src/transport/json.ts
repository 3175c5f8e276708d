import type { Context } from 'koa';
import { isUnchanged, weakEtag } from './headers.ts';

/** Answers JSON that no cache may keep: it may hold what is shown only once. */
export function answerJson(ctx: Context, status: number, body: unknown): void {
  ctx.status = status;
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = JSON.stringify(body);
}

/**
 * Answers a read: with a weak ETag over what is shown, which changes whenever that does and is the same in each content coding; 304 when
 * the client has it already (RFC 9110, section 13.1.2). Only the client itself may keep it, and asks before it uses it again.
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
