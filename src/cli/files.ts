import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from './command.ts';

/** Of a file that is given, bytes. */
const MAX_INPUT = 16 * 1024 * 1024;
const CHUNK = 256 * 1024;
const SILENCE_MS = 10_000;
const LOOK_MS = 20;

/**
 * Reads a file or what comes through a pipe (`<(curl …)`), no more of it than is taken.
 * @param most bytes that are taken
 * @param silence how long a pipe may keep silent, milliseconds
 * @throws {InputError} that says in words why it can't be read, or that it is too large
 */
export async function readInput(path: string, most = MAX_INPUT, silence = SILENCE_MS): Promise<Buffer> {
  try {
    // A pipe without a writer would keep a plain open waiting for ever.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      return await readAll(file, most, silence);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new InputError(`${path} can not be read: ${reasonOf(error)}.`, { cause: error });
  }
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
      silent += LOOK_MS;
      await sleep(LOOK_MS);
      continue;
    }
    silent = 0;
    chunks.push(chunk.subarray(0, count));
    size += count;
    if (size > most) throw new Error(`it is too large: more than ${most / 1024 / 1024} MiB`);
  }
  throw new Error(`nothing came through it for ${silence / 1000} s`);
}

/** @returns null for a pipe that has nothing at present */
function unlessEmpty(error: NodeJS.ErrnoException): null {
  if (error.code === 'EAGAIN') return null;
  throw error;
}

/** @throws {InputError} when the file can't be read or holds no JSON */
export async function readJsonInput(path: string): Promise<unknown> {
  const text = (await readInput(path)).toString('utf8');
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new InputError(`${path} holds no JSON: ${(error as Error).message}.`, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission is denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** An error of the file system in words, without the path. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? message;
}
