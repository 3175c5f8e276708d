import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../domain/ids.ts';

/** The folder of the copies. Nobody else may read them. */
const FOLDER = join(tmpdir(), 'fatoura-imports');
/** A copy of this age is left over from a process that died, milliseconds: no work on a file takes so long. */
const LEFT_OVER_MS = 3_600_000;

/** A temporary copy of a file. */
export interface TemporaryFile {
  readonly path: string;
  remove(): Promise<void>;
}

/** Copies a file for those that need a path. Also removes copies of processes that have died. */
export async function temporaryFile(pieces: AsyncIterable<Uint8Array>): Promise<TemporaryFile> {
  await mkdir(FOLDER, { recursive: true, mode: 0o700 });
  await removeLeftOver();
  const path = join(FOLDER, newId('file'));
  const remove = () => rm(path, { force: true });
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const piece of pieces) await file.write(piece);
    } finally {
      await file.close();
    }
    return { path, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function removeLeftOver(): Promise<void> {
  for (const name of await readdir(FOLDER)) {
    const path = join(FOLDER, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > LEFT_OVER_MS) await rm(path, { force: true });
  }
}
