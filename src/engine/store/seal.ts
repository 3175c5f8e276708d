import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isOutOfSpace } from './disk.ts';

/**
 * The seal of a data file: written when it was closed properly, broken before it is written to again. A file whose seal holds is, as far as the
 * file system knows, byte for byte the one that was closed.
 */
export function seal(path: string): void {
  try {
    const file = openSync(sealOf(path), 'w', 0o600);
    try {
      writeFileSync(file, stateOf(path));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    // Half a seal holds as little as none: the next start checks the file whole.
    if (!isOutOfSpace(error)) throw error;
  }
}

export function breakSeal(path: string): void {
  rmSync(sealOf(path), { force: true });
}

/** `whole`: closed properly and not touched since; `touched`: closed properly, but then changed by something else; `none`: not closed properly. */
export function sealState(path: string): 'whole' | 'touched' | 'none' {
  try {
    return readFileSync(sealOf(path), 'utf8') === stateOf(path) ? 'whole' : 'touched';
  } catch {
    return 'none';
  }
}

function sealOf(path: string): string {
  return `${path}.seal`;
}

/** Size, and when content and entry were changed last (ns): no program can write to the file and leave the latter as it was. */
function stateOf(path: string): string {
  const { size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return JSON.stringify({ size: Number(size), mtime: String(mtimeNs), ctime: String(ctimeNs) });
}
