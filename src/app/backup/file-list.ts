import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, opendir, stat } from 'node:fs/promises';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { syncFolders } from '../../adapters/sync-folder.ts';
import { KEY_LOCK_FILE } from '../key-files.ts';
import { isKeyDraft } from '../master-key.ts';

/** The file with the list of a backup's files and their digests, in the format of `sha256sum -c`. */
const SUMS = 'SHA256SUMS';
export const DATA = 'data';
export const DATABASE = 'db/engine.sqlite';
/** The folder in DATA_DIR that exists while a restore is under way. */
export const RESTORING = '.restoring';

/**
 * Entries of DATA_DIR that are not copied as files: the engine's data, which is copied separately, and files that are
 * created again.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['db', 'chromium', RESTORING, KEY_LOCK_FILE]);

/** Writes the list of a backup's files. */
export interface FileList {
  readonly files: number;
  add(path: string, sha256: string): Promise<void>;
  /** Stops writing after a failure, without a complete list. Does nothing after `close`. */
  release(): Promise<void>;
  /**
   * Waits until the list, and the names of all copied files, are flushed to the disk. @returns the SHA-256 of the list
   */
  close(): Promise<string>;
}

export async function createFileList(folder: string): Promise<FileList> {
  const handle = await open(join(folder, SUMS), 'wx', 0o600);
  let isOpen = true;
  const release = async () => {
    if (!isOpen) return;
    isOpen = false;
    await handle.close();
  };
  const hash = createHash('sha256');
  let files = 0;
  return {
    get files() {
      return files;
    },
    async add(path, sha256) {
      const line = `${sha256}  ${DATA}/${path.split(sep).join('/')}\n`;
      if (/[\\\r\n]/.test(path))
        throw new Error(`A file with such a name cannot be backed up: ${JSON.stringify(path)}.`);
      hash.update(line);
      await handle.write(line);
      files++;
    },
    release,
    async close() {
      await handle.sync();
      await release();
      await syncFolders(folder);
      return hash.digest('hex');
    },
  };
}

/**
 * Yields the entries of a backup's list, after comparing the digest of the whole list.
 * @throws when the list is missing, has another digest, or names a path outside the backup
 */
export async function* readFileList(folder: string, sha256: string): AsyncGenerator<{ path: string; sha256: string }> {
  const list = join(folder, SUMS);
  if ((await digestOf(list)) !== sha256) throw new Error(`${list} is damaged: its digest is not that of the manifest.`);
  const input = createReadStream(list);
  try {
    yield* entriesOf(list, input);
  } finally {
    // Readline leaves the input open when its reader stops early.
    input.destroy();
  }
}

async function* entriesOf(list: string, input: Readable): AsyncGenerator<{ path: string; sha256: string }> {
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const [, sum, path] = /^([0-9a-f]{64}) {2}data\/(.+)$/.exec(line) ?? [];
    const isInside = path !== undefined && normalize(path) === join(path) && !/^(\.\.)?([/\\]|$)/.test(normalize(path));
    if (sum === undefined || path === undefined || !isInside || path.split('/').includes('..'))
      throw new Error(`${list} has a wrong line: ${JSON.stringify(line.slice(0, 200))}.`);
    yield { path, sha256: sum };
  }
}

/** Returns the SHA-256 of a file. @throws when it cannot be read; the message names a file that does not exist */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash).catch(missing(path));
  return hash.digest('hex');
}

/** Copies a file with access for its owner only, and flushes it to the disk. @returns its SHA-256 */
export async function copyFile(from: string, to: string): Promise<string> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  const target = await open(to, 'wx', 0o600);
  try {
    const source = createReadStream(from, { highWaterMark: 1024 * 1024 });
    for await (const bytes of source) {
      hash.update(bytes);
      await target.write(bytes);
    }
    await target.sync();
  } catch (error) {
    missing(from)(error);
  } finally {
    await target.close();
  }
  return hash.digest('hex');
}

function missing(path: string): (error: unknown) => never {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Error(`${path} is missing.`, { cause: error });
    throw error;
  };
}

/** Yields the files of DATA_DIR that a copy contains beside the database, as paths relative to it. */
export async function* dataFiles(dataDir: string): AsyncGenerator<string> {
  for (const top of await namesIn(dataDir)) {
    // Skips drafts of key files: no backup needs them.
    if (LEFT_OUT.has(top) || isKeyDraft(top)) continue;
    const path = join(dataDir, top);
    const kind = await stat(path).catch(() => null);
    if (kind?.isFile()) yield top;
    if (!kind?.isDirectory()) continue;
    // Skips drafts, which are renamed or deleted within a moment.
    for await (const entry of await opendir(path, { recursive: true }))
      if (entry.isFile() && !entry.name.endsWith('.part')) yield relative(dataDir, join(entry.parentPath, entry.name));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder)) names.push(name);
  return names.sort();
}
