import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { RequestState } from './state.ts';

/** Any text will do: Node only checks whether the head was sent. */
const SENT_HEAD = 'HTTP/1.1 200 OK\r\n\r\n';

/** The outermost middleware. Lets {@link releaseRequest} wait until all others have returned. */
export function releasable(): Middleware {
  return async (ctx, next) => {
    const state = ctx.state as RequestState;
    try {
      await next();
    } finally {
      state.hasReturned = true;
      if (state.isReleasable) setImmediate(forget, ctx);
    }
  };
}

/**
 * Releases what Koa and Node keep of a request until its answer is complete, because the answer may stay open for days:
 * the headers of both directions, the parsed address and the body. Takes effect when all middleware has returned, also
 * if the client is gone before. A version of Node with other internals only releases less.
 * @param ctx a request whose answer has begun outside of Koa
 */
export function releaseRequest(ctx: Context): void {
  const state = ctx.state as RequestState;
  state.isReleasable = true;
  if (state.hasReturned) setImmediate(forget, ctx);
}

function forget(ctx: Context): void {
  forgetContext(ctx);
  forgetRequest(ctx.req);
  forgetHead(ctx.res);
}

/** The fields of a context that Koa needs when a connection fails, and the field with the facts of our middleware. */
const KEPT = new Set<unknown>(['app', 'ctx', 'req', 'res', 'request', 'response', 'respond', 'state']);

function forgetContext(ctx: Context): void {
  // Deleting a property would cost more memory than it holds.
  for (const part of [ctx, ctx.request, ctx.response] as unknown as Record<string | symbol, unknown>[])
    for (const name of Reflect.ownKeys(part)) if (!KEPT.has(name)) part[name] = undefined;
}

function forgetRequest(req: IncomingMessage & { body?: unknown }): void {
  req.rawHeaders = [];
  req.headers = {};
  req.url = '';
  req.body = undefined;
}

function forgetHead(res: ServerResponse): void {
  const internals = res as unknown as Record<string | symbol, unknown>;
  if (typeof internals._header === 'string') internals._header = SENT_HEAD;
  for (const name of Object.getOwnPropertySymbols(res)) if (name.description === 'kOutHeaders') internals[name] = null;
}
