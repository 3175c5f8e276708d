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

/** The list of a backup's files with their digests, in the form that `sha256sum -c` reads. */
const SUMS = 'SHA256SUMS';
export const DATA = 'data';
export const DATABASE = 'db/engine.sqlite';
/** A folder in DATA_DIR while a restore is under way. */
export const RESTORING = '.restoring';

/** Entries of DATA_DIR outside of a copy: the engine's files, which are copied otherwise, and files made again. */
const LEFT_OUT: ReadonlySet<string> = new Set(['db', 'chromium', RESTORING, KEY_LOCK_FILE]);

/** Writes the list of files. */
export interface FileList {
  readonly files: number;
  add(path: string, sha256: string): Promise<void>;
  /** Ends without a list: after a failure. Does nothing after `close`. */
  release(): Promise<void>;
  /** Waits until the list, and the names of all files of the copy, are on the disk. @returns the SHA-256 of the list */
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
 * The entries of a backup's list, after the digest of the whole list is compared.
 * @throws when the list is missing, is another one, or names a path outside the backup
 */
export async function* readFileList(folder: string, sha256: string): AsyncGenerator<{ path: string; sha256: string }> {
  const list = join(folder, SUMS);
  if ((await digestOf(list)) !== sha256) throw new Error(`${list} is damaged: its digest is not that of the manifest.`);
  const input = createReadStream(list);
  try {
    yield* entriesOf(list, input);
  } finally {
    // Readline leaves it open where its reader ends early.
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

/** @throws when the file cannot be read; one that does not exist is named */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash).catch(missing(path));
  return hash.digest('hex');
}

/** Copies a file, for its owner only and to the disk. @returns its SHA-256 */
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

/** The files of DATA_DIR that belong to a copy beside the database, as paths in it. */
export async function* dataFiles(dataDir: string): AsyncGenerator<string> {
  for (const top of await namesIn(dataDir)) {
    // The draft of a key is one, and no copy needs it.
    if (LEFT_OUT.has(top) || (await isKeyDraft(dataDir, top))) continue;
    const path = join(dataDir, top);
    const kind = await stat(path).catch(() => null);
    if (kind?.isFile()) yield top;
    if (!kind?.isDirectory()) continue;
    // A draft is renamed or gone in a moment.
    for await (const entry of await opendir(path, { recursive: true }))
      if (entry.isFile() && !entry.name.endsWith('.part')) yield relative(dataDir, join(entry.parentPath, entry.name));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder)) names.push(name);
  return names.sort();
}
