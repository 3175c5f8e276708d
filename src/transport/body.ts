import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';

/** The largest request body, bytes (design, section 5, "limits"). */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * A JSON body, checked in this order: media type, size, UTF-8, syntax.
 * @throws {ServiceError} invalid_request with 415, 413 or 400
 */
export async function readJson(ctx: Context): Promise<unknown> {
  if (ctx.is('application/json') !== 'application/json' || !/^utf-?8$/i.test(ctx.request.charset || 'utf-8')) {
    throw serviceError(
      'invalid_request',
      'Send the body as UTF-8 JSON with Content-Type: application/json.',
      null,
      415,
    );
  }
  const text = await readText(ctx);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw serviceError('invalid_request', `The body is not valid JSON: ${(error as Error).message.slice(0, 200)}.`);
  }
  // The name reaches objects' prototypes in too many libraries.
  if (text.includes('__proto__') || text.includes('\\u005f')) {
    JSON.parse(text, (name, member) => {
      if (name === '__proto__') throw serviceError('invalid_request', 'No field can be named __proto__.', '__proto__');
      return member;
    });
  }
  return value;
}

/** The body as text. @throws {ServiceError} invalid_request: 413 when it is too long, 415 when encoded, 400 when it is not UTF-8 */
export async function readText(ctx: Context): Promise<string> {
  if (ctx.get('Content-Encoding') && ctx.get('Content-Encoding') !== 'identity') {
    throw serviceError('invalid_request', 'Send the body without Content-Encoding.', null, 415);
  }
  const chunks: Buffer[] = [];
  let size = Number(ctx.get('Content-Length')) > MAX_BODY_BYTES ? Number.POSITIVE_INFINITY : 0;
  if (size === 0) {
    for await (const chunk of ctx.req as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) break;
      chunks.push(chunk);
    }
  }
  if (size > MAX_BODY_BYTES) {
    // What is left of the body is not read.
    ctx.set('Connection', 'close');
    throw serviceError('invalid_request', 'The body is larger than 1 MiB.', null, 413);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw serviceError('invalid_request', 'The body is not valid UTF-8.');
  }
}
