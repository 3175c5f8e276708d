import { readFile } from 'node:fs/promises';
import { InputError } from './command.ts';

/** @throws {InputError} that says in words why the file can't be read */
export async function readInput(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new InputError(`${path} can not be read: ${reasonOf(error)}.`, { cause: error });
  }
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
