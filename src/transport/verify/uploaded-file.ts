import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { serviceError } from '../../domain/errors.ts';

/** Of a request's body, bytes: more than any document of ours with its surroundings. */
export const MAX_UPLOAD = 32 * 1024 * 1024;

/**
 * The SHA-256 of the file in a form's `file` field, lower-case hex; read as it comes, nothing is kept.
 * @param most how many bytes are digested; `longer` for a file that has more
 * @returns null when the form brings no file
 * @throws {ServiceError} 400 for a body that is no such form, 413 for one that is longer than {@link MAX_UPLOAD}
 */
export function digestOfUpload(request: IncomingMessage, most: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    let found: string | null = null;
    let received = 0;
    const form = busboyOf(request, most);
    form.on('file', (field, file, filename) => {
      const hash = createHash('sha256');
      file.on('data', (chunk: Buffer) => hash.update(chunk));
      file.on('limit', () => {
        found = 'longer';
      });
      file.on('end', () => {
        // A form without a choice sends an empty file without a name.
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
    request.on('aborted', () => fail(new Error('the request was broken off')));
    request.pipe(form);

    function fail(error: unknown): void {
      request.unpipe(form);
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
