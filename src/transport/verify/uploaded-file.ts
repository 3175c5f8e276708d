import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { Context } from 'koa';
import { serviceError } from '../../domain/errors.ts';
import { waitForTurn } from '../request-turns.ts';

/** Maximum size of the request body, bytes: more than any document of the service within a form. */
const MAX_UPLOAD = 32 * 1024 * 1024;
/**
 * Bytes of a form that are parsed and digested in one unit of `takeTurn`, for the slowest content: beginnings of
 * boundaries.
 */
const BYTES_A_UNIT = 30;

/**
 * Computes the SHA-256 of the file in the form field `file`, in lower-case hex. The file is digested as it arrives and
 * not stored. Each piece waits until the event loop has room for it.
 * @param most the maximum size of the file, bytes; for a larger one the result is `longer`
 * @returns null when the form contains no file
 * @throws {ServiceError} 400 when the body is not such a form, 413 when it is larger than {@link MAX_UPLOAD}
 */
export function digestOfUpload(ctx: Context, most: number): Promise<string | null> {
  const request = ctx.req;
  return new Promise((resolve, reject) => {
    let found: string | null = null;
    let received = 0;
    const form = busboyOf(request, most);
    const paced = new Transform({
      transform: (piece: Buffer, _encoding, done) =>
        void waitForTurn(ctx, 'body', piece.length / BYTES_A_UNIT).then(() => done(null, piece), fail),
    });
    form.on('file', (field, file, filename) => {
      const hash = createHash('sha256');
      file.on('data', (chunk: Buffer) => hash.update(chunk));
      file.on('limit', () => {
        found = 'longer';
      });
      file.on('end', () => {
        // A form without a chosen file sends an empty file without a name.
        if (field === 'file' && found === null && filename) found = hash.digest('hex');
      });
      file.on('error', fail);
    });
    form.on('error', fail);
    form.on('finish', () => resolve(found));
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > MAX_UPLOAD) fail(tooLarge());
    });
    request.on('error', fail);
    request.on('aborted', () => fail(new Error('the request was aborted')));
    request.pipe(paced).pipe(form);

    function fail(error: unknown): void {
      request.unpipe(paced);
      paced.unpipe(form);
      request.pause();
      reject((error as Error).name === 'ServiceError' ? error : notAForm());
    }
  });
}

function busboyOf(request: IncomingMessage, most: number): BusboyInstance {
  if (Number(request.headers['content-length'] ?? 0) > MAX_UPLOAD) throw tooLarge();
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { files: 1, fields: 8, fieldSize: 1024, parts: 9, fileSize: most, headerPairs: 20 },
    });
  } catch {
    throw notAForm();
  }
}

function tooLarge() {
  return serviceError('invalid_request', `The file is too large: at most ${MAX_UPLOAD} bytes.`, 'file', 413);
}

function notAForm() {
  return serviceError(
    'invalid_request',
    'The body must be a form (multipart/form-data) with a file in `file`.',
    'file',
  );
}
