import type { KeyObject } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import { CALLBACK_TOLERANCE_MS, isSignedCallback } from '../domain/authority/callback-signature.ts';
import type { TakeHint } from '../domain/authority/take-hint.ts';
import { ServiceError, serviceError } from '../domain/errors.ts';
import { readBytes, readJsonOf } from './body.ts';
import { countOf } from './headers.ts';
import type { CountRequests } from './middleware/identify.ts';

const CALLBACK_PATH = '/authority/callback';
/** The largest body of a callback, bytes. */
const MAX_CALLBACK_BYTES = 4096;
const MAX_ID = 200;
/**
 * The maximum number of message ids that are remembered. If a forgotten one is repeated, it costs an update that
 * changes nothing.
 */
const MOST_REMEMBERED = 10_000;

export interface AuthorityCallbackParts {
  /** The key of DGI_CALLBACK_SECRET. */
  readonly key: KeyObject;
  readonly takeHint: TakeHint;
}

/**
 * `POST /authority/callback`: the authority's hint that a submission has changed (docs/decisions/0043). A signed
 * callback is answered 204, whether the submission is known or not. This route comes before the rate limits and counts
 * only unsigned callbacks for their address, so that forged callbacks never block the authority's own.
 */
export function authorityCallback({ key, takeHint }: AuthorityCallbackParts, count: CountRequests): Middleware {
  // A message may be repeated until its signature expires, at most twice the tolerance from now.
  const seen = new LRUCache<string, true>({ max: MOST_REMEMBERED, ttl: 2 * CALLBACK_TOLERANCE_MS });

  async function receive(ctx: Context): Promise<void> {
    const body = await readSigned(ctx, key).catch(async (error: unknown) => {
      if (error instanceof ServiceError) await count(ctx, 1);
      throw error;
    });
    const submissionId = submissionIn(readJsonOf(ctx, body));
    ctx.status = 204;
    const message = ctx.get('webhook-id');
    if (seen.has(message)) return;
    seen.set(message, true);
    try {
      await takeHint(submissionId);
    } catch (error) {
      // The authority repeats the message after a failure, so it must not count as seen.
      seen.delete(message);
      throw error;
    }
  }

  return async (ctx, next) => {
    if (ctx.path !== CALLBACK_PATH) return next();
    (ctx as { _matchedRoute?: string })._matchedRoute = CALLBACK_PATH;
    if (ctx.method === 'POST') return receive(ctx);
    await count(ctx, 1);
    ctx.set('Allow', 'POST');
    throw serviceError('invalid_request', `${ctx.method} is not allowed here. Use POST.`, null, 405);
  };
}

/**
 * Reads the body and checks its signature.
 * @throws {ServiceError} 401 when it is not signed; the errors of `readBytes`
 */
async function readSigned(ctx: Context, key: KeyObject): Promise<Buffer> {
  const body = await readBytes(ctx, MAX_CALLBACK_BYTES);
  const header = (name: string) => (countOf(ctx, name) === 1 ? ctx.get(name) : undefined);
  const headers = {
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signature: header('webhook-signature'),
  };
  if (isSignedCallback(key, headers, body, new Date())) return body;
  throw serviceError(
    'invalid_api_key',
    'The callback is not signed with the secret of this service (Standard Webhooks), or its signature is older than 5 minutes.',
    'webhook-signature',
  );
}

/** Returns the id in the body `{"id", "status"}`. @throws {ServiceError} invalid_request */
function submissionIn(body: unknown): string {
  const { id, status, ...others } = Object(body) as Record<string, unknown>;
  const isText = (value: unknown) => typeof value === 'string' && value.length > 0 && value.length <= MAX_ID;
  if (Array.isArray(body) || !isText(id) || !isText(status) || Object.keys(others).length > 0)
    throw serviceError('invalid_request', 'The body must be {"id": "…", "status": "…"} and nothing else.');
  return id as string;
}
