import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from './command.ts';

/** Default size limit for input files, in bytes. */
const MAX_INPUT = 16 * 1024 * 1024;
const CHUNK = 256 * 1024;
const SILENCE_MS = 10_000;
const POLL_MS = 20;

/**
 * Reads a file, a named pipe (`<(curl …)`), or standard input (`-`).
 * @param most size limit in bytes
 * @param silence how long a pipe may send nothing, in milliseconds
 * @throws {InputError} when it cannot be read or is too large
 */
export async function readInput(path: string, most = MAX_INPUT, silence = SILENCE_MS): Promise<Buffer> {
  try {
    if (path === '-') return await readStream(process.stdin, most);
    // A blocking open would wait forever for a writer of the pipe.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      return await readAll(file, most, silence);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new InputError(`${path} cannot be read: ${reasonOf(error)}.`, { cause: error });
  }
}

async function readStream(stream: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) throw tooLarge(most);
  }
  return Buffer.concat(chunks);
}

function tooLarge(most: number): Error {
  return new Error(`it is too large: more than ${most / 1024 / 1024} MiB`);
}

async function readAll(file: FileHandle, most: number, silence: number): Promise<Buffer> {
  const isPipe = (await file.stat()).isFIFO();
  const chunks: Buffer[] = [];
  let size = 0;
  for (let silent = 0; silent < silence; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, most + 1 - size));
    const count = await file.read(chunk).then(({ bytesRead }) => bytesRead, unlessEmpty);
    if (count === 0 && !(isPipe && size === 0)) return Buffer.concat(chunks);
    if (count === null || count === 0) {
      silent += POLL_MS;
      await sleep(POLL_MS);
      continue;
    }
    silent = 0;
    chunks.push(chunk.subarray(0, count));
    size += count;
    if (size > most) throw tooLarge(most);
  }
  throw new Error(`it sent nothing for ${silence / 1000} s`);
}

/** Returns null if the error means that the pipe has no data at the moment; throws any other error. */
function unlessEmpty(error: NodeJS.ErrnoException): null {
  if (error.code === 'EAGAIN') return null;
  throw error;
}

/** Reads a JSON file. @throws {InputError} when the file cannot be read or is not JSON */
export async function readJsonInput(path: string): Promise<unknown> {
  const text = (await readInput(path)).toString('utf8');
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new InputError(`${path} is not valid JSON: ${(error as Error).message}.`, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission is denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Returns the reason of a file system error as text, without the path. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? message;
}
