import { isUtf8 } from 'node:buffer';
import { MIMEType } from 'node:util';
import type { Context } from 'koa';
import { serviceError } from '../domain/errors.ts';
import { takeTurn } from '../domain/event-loop-turns.ts';
import { MAX_BODY_BYTES } from '../domain/limits.ts';
import { askAgain } from './ask.ts';
import { countOf } from './headers.ts';
import { waitForTurn } from './request-turns.ts';
import { ArrivingBody } from './unfinished-bodies.ts';

/** How long a body may take to arrive, in milliseconds: enough for 1 MiB at 140 kbit/s. */
export const BODY_MS = 60_000;
/**
 * Maximum bytes of a too large body that are read and discarded. Many clients read no answer before they have sent
 * everything.
 */
const MAX_DROPPED_BYTES = 16 * MAX_BODY_BYTES;
/**
 * Maximum number of values in a JSON body, including objects and lists. An invoice of 1,000 lines has 5,000
 * (docs/decisions/0013).
 */
export const MAX_VALUES = 30_000;
/**
 * Bytes of a body that are parsed and checked in one unit of `takeTurn`. Most bodies take less time, empty invoice
 * lines more: 650 of them in 2 KB take 2 ms.
 */
const BYTES_A_UNIT = 4;
/** Bytes of a body that are received in one unit, and the minimum size of a piece that is counted. */
const [RECEIVED_BYTES_A_UNIT, COUNTED_PIECE] = [500, 16 * 1024];

/**
 * Reads a JSON body, and checks in this order: media type, time, size, UTF-8, number of values, syntax.
 * @param most as for {@link readBytes}
 * @throws {ServiceError} invalid_request with 415, 408, 413 or 400
 */
export async function readJson(ctx: Context, most = MAX_BODY_BYTES): Promise<unknown> {
  requireJson(ctx);
  return parseJson(textOf(await readBytes(ctx, most)));
}

/**
 * Like {@link readJson}, for a body that has already been read.
 * @throws {ServiceError} invalid_request with 415 or 400
 */
export function readJsonOf(ctx: Context, body: Buffer): unknown {
  requireJson(ctx);
  return parseJson(textOf(body));
}

function requireJson(ctx: Context): void {
  if (countOf(ctx, 'content-type') <= 1 && isJson(ctx.get('Content-Type'))) return;
  throw serviceError(
    'invalid_request',
    `Send the body as UTF-8 JSON with Content-Type: application/json; ${sentType(ctx)} was sent.`,
    null,
    415,
  );
}

/**
 * Whether a media type is JSON in UTF-8. Parameters other than `charset` have no meaning and are ignored (RFC 9110,
 * section 8.3.1). Browsers read media types by the same rules (WHATWG MIME Sniffing), so they send what counts as JSON
 * here to another origin only after a preflight.
 */
function isJson(type: string): boolean {
  if (type === 'application/json') return true;
  try {
    const { essence, params } = new MIMEType(type);
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8');
  } catch {
    return false;
  }
}

function parseJson(text: string): unknown {
  requireFewValues(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw serviceError('invalid_request', `The body is not valid JSON: ${(error as Error).message.slice(0, 200)}.`);
  }
}

/**
 * Counts the values of a JSON text before parsing. Many small values take the longest: 70,000 names in 1 MiB block the
 * event loop for 50 ms in the parser, and then again in every later step.
 * @throws {ServiceError} invalid_request
 */
function requireFewValues(text: string): void {
  // Each value takes two characters or more.
  if (text.length <= 2 * MAX_VALUES) return;
  let [values, isString] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '"') isString = !isString;
    else if (!isString && (character === ',' || character === '{' || character === '[')) values++;
  }
  if (values > MAX_VALUES)
    throw serviceError('invalid_request', `The body has more than ${MAX_VALUES.toLocaleString('en')} values.`);
}

function sentType(ctx: Context): string {
  const type = ctx.get('Content-Type').slice(0, 100);
  return type === '' ? 'none' : JSON.stringify(type);
}

/**
 * Reads the body of a GraphQL request as unparsed text. Its Content-Type must be JSON, because browsers send JSON to
 * another origin only after a preflight, unlike a form or plain text.
 * @throws {ServiceError} invalid_request with 415, 408, 413 or 400
 */
export async function readGraphqlJson(ctx: Context): Promise<string> {
  requireJson(ctx);
  // The libraries accept the media type in lower case only.
  ctx.req.headers['content-type'] = 'application/json';
  const text = await readText(ctx);
  requireFewValues(text);
  return text;
}

/**
 * Reads the body as text, without a byte order mark.
 * @throws {ServiceError} invalid_request: 408 when it does not arrive in time, 413 when it is too large, 415 when it
 * has a content coding, 400 when it is not UTF-8
 */
export async function readText(ctx: Context): Promise<string> {
  return textOf(await readBytes(ctx));
}

/**
 * Decodes a body as text, without a byte order mark.
 * @throws {ServiceError} invalid_request (400) when it is not UTF-8
 */
function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw serviceError('invalid_request', 'The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/**
 * Reads the body as it was sent. When it is complete, the caller's permission is checked again (ask.ts), and the body
 * waits until the event loop has room for the work of its handler (request-turns.ts). Every body is read here, so no
 * request acts with a permission that ended while its body arrived, and many bodies together do not block the loop.
 * @param most the largest body, bytes: a whole number of KiB
 * @throws {ServiceError} invalid_request: 408 when it does not arrive in time, 413 when it is too large, 415 when it
 *   has a content coding; 503 when there is no memory for it; the refusal of a caller whose permission has ended
 */
export async function readBytes(ctx: Context, most = MAX_BODY_BYTES): Promise<Buffer> {
  if (!/^(identity)?$/i.test(ctx.get('Content-Encoding'))) {
    throw serviceError('invalid_request', 'Send the body without Content-Encoding.', null, 415);
  }
  const length = Number(ctx.get('Content-Length'));
  const { size, body } =
    length > MAX_DROPPED_BYTES ? { size: Number.POSITIVE_INFINITY, body: null } : await received(ctx, length, most);
  if (size > most) {
    // The rest of the body is not read.
    if (size > MAX_DROPPED_BYTES) ctx.set('Connection', 'close');
    const limit = most < MAX_BODY_BYTES ? `${most / 1024} KiB` : `${most / MAX_BODY_BYTES} MiB`;
    throw serviceError('invalid_request', `The body is larger than the maximum of ${limit}.`, null, 413);
  }
  try {
    bytesOf(body);
    await askAgain(ctx);
    await waitForTurn(ctx, 'body', size / BYTES_A_UNIT);
    return bytesOf(body);
  } finally {
    // Its memory is counted while it waits.
    body?.release();
  }
}

/** Returns the bytes of a body. @throws {ServiceError} 503 when there is no memory for it */
function bytesOf(body: ArrivingBody | null): Buffer {
  const bytes = body?.bytes();
  if (bytes) return bytes;
  throw serviceError('internal_error', 'Too many large bodies are arriving at the moment. Try again.', null, 503);
}

/**
 * Receives a body. Returns its size and the body, which the caller must release. A body that is too large, or for which
 * there is no memory, has no bytes. Uses events, because an async iterator costs as much as the rest of a small
 * request.
 * @param length the Content-Length, bytes; 0 if there is none
 * @throws {ServiceError} 408 when it takes too long; 400 when the client disconnects before the end: nobody reads this
 *   answer, and it is no failure of this service
 */
function received(ctx: Context, length: number, most: number): Promise<{ size: number; body: ArrivingBody }> {
  const { req } = ctx;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // Otherwise the rest of the body would be parsed as the next request.
      ctx.set('Connection', 'close');
      stop();
      body.release();
      reject(serviceError('invalid_request', `The body did not arrive within ${BODY_MS / 1000} s.`, null, 408));
    }, BODY_MS);
    const body = new ArrivingBody(ctx, length > most ? 0 : length);
    if (length > most) body.refuse();
    let size = 0;
    let isOver = false;
    const take = (piece: Buffer): void => {
      size += piece.length;
      if (size > most) body.refuse();
      else body.add(piece);
      if (size > MAX_DROPPED_BYTES) end();
      const turn = isOver || piece.length < COUNTED_PIECE ? null : takeTurn(piece.length / RECEIVED_BYTES_A_UNIT);
      if (!turn) return;
      req.pause();
      void turn.then(() => {
        if (!isOver) req.resume();
      });
    };
    const stop = (): void => {
      isOver = true;
      clearTimeout(timer);
      req.off('data', take).off('end', end).off('close', breakOff).off('error', breakOff);
      req.pause();
    };
    const end = (): void => {
      stop();
      resolve({ size, body });
    };
    const breakOff = (): void => {
      clearTimeout(timer);
      body.release();
      reject(serviceError('invalid_request', 'The body ended early.'));
    };
    if (req.destroyed && !req.complete) return breakOff();
    req.on('data', take).on('end', end).on('close', breakOff).on('error', breakOff);
  });
}
