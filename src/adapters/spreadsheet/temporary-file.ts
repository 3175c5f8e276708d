import { mkdtemp, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../domain/ids.ts';

/** The prefix of the names of folders with copies. */
const PREFIX = 'imports-';
/** A folder without writes for this time belongs to a process that died, milliseconds. */
const LEFT_OVER_MS = 3_600_000;

/** A temporary copy of a file. */
export interface TemporaryFile {
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes temporary copies of uploaded files. */
export interface TemporaryFiles {
  copy(pieces: AsyncIterable<Uint8Array>): Promise<TemporaryFile>;
  /** Removes the copies of killed processes. */
  sweep(): Promise<void>;
  /** Removes all copies of this process. */
  close(): Promise<void>;
}

/**
 * Makes copies for code that needs the path of a file, in a folder of this process that no other user may read.
 * @param dataDir the folder of the service. The system's folder for temporary files is not used, because other users
 *   may have put files there
 * @param alone whether no other process uses the folder: then all other copies belong to processes that died
 */
export function createTemporaryFiles(dataDir: string, alone: boolean): TemporaryFiles {
  let own: Promise<string> | null = null;
  /** Returns the folder. It is made at the first copy, and made again if that failed or the folder was removed. */
  async function ownFolder(): Promise<string> {
    if (own && !(await isFolder(own))) own = null;
    own ??= mkdtemp(join(dataDir, PREFIX));
    return own;
  }
  return {
    async copy(pieces) {
      const path = join(await ownFolder(), newId('file'));
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
    },
    async sweep() {
      const present = await own?.catch(() => null);
      // The time of the folder shows other processes that this one is alive.
      if (present) await utimes(present, new Date(), new Date()).catch(() => undefined);
      for (const entry of await readdir(dataDir, { withFileTypes: true })) {
        const path = join(dataDir, entry.name);
        if (!entry.isDirectory() || !entry.name.startsWith(PREFIX) || path === present) continue;
        const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
        if (alone || Date.now() - mtimeMs > LEFT_OVER_MS) await rm(path, { recursive: true, force: true });
      }
    },
    async close() {
      const present = await own?.catch(() => null);
      if (present) await rm(present, { recursive: true, force: true });
    },
  };
}

/** Whether a folder was made and still exists. */
async function isFolder(folder: Promise<string>): Promise<boolean> {
  return folder
    .then((path) => stat(path))
    .then(
      (found) => found.isDirectory(),
      () => false,
    );
}
