import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isOutOfSpace } from './disk.ts';

/**
 * Writes the seal of a data file: proof that the file was closed properly. It is deleted before the file is written to
 * again. While the seal matches, the file system shows no change to the file since it was closed.
 */
export function seal(path: string): void {
  try {
    const file = openSync(sealPath(path), 'w', 0o600);
    try {
      writeFileSync(file, fileState(path));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    // An incomplete seal does not match, so the next start checks the whole file.
    if (!isOutOfSpace(error)) throw error;
  }
}

export function breakSeal(path: string): void {
  rmSync(sealPath(path), { force: true });
}

/**
 * `intact`: closed properly and not changed since; `modified`: closed properly, then changed by another program; `none`:
 * not closed properly.
 */
export function sealState(path: string): 'intact' | 'modified' | 'none' {
  try {
    return readFileSync(sealPath(path), 'utf8') === fileState(path) ? 'intact' : 'modified';
  } catch {
    return 'none';
  }
}

/** Whether there is a seal, matching or not: the file had content. */
export function isSealed(path: string): boolean {
  return existsSync(sealPath(path));
}

function sealPath(path: string): string {
  return `${path}.seal`;
}

/**
 * Size, modification time and inode change time (ns). No program can write to the file without changing the last one.
 */
function fileState(path: string): string {
  const { size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return JSON.stringify({ size: Number(size), mtime: String(mtimeNs), ctime: String(ctimeNs) });
}
