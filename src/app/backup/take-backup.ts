import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { syncFolder } from '../../adapters/sync-folder.ts';
import type { Config } from '../../config.ts';
import { inspectCopy } from '../../engine/copy/inspect-copy.ts';
import { lockKeyFiles } from '../key-files.ts';
import { engineFolder, openStore } from '../store.ts';
import { type CopiedState, copyDatabase, copyDataFiles, copyLog, openSource } from './copy-store.ts';
import { createFileList, DATA, DATABASE, digestOf } from './file-list.ts';
import { type Manifest, writeManifest } from './manifest.ts';

export interface BackupOptions {
  /** The folder of the backup. */
  readonly to: string;
  readonly withMasterKey: boolean;
  readonly signal: AbortSignal;
  /** Called with a text about the current step. */
  readonly say: (what: string) => void;
}

/**
 * Copies the embedded engine's data while it is in use, together with the other files of DATA_DIR, and checks the copy.
 * Until the copy is complete and flushed to the disk, the folder is called `<name>.incomplete`.
 * @throws when the folder exists and is not empty, the copy is damaged, or `signal` aborts; nothing is left then
 */
export async function takeBackup(config: Config, options: BackupOptions): Promise<Manifest> {
  const to = outside(config.dataDir, options.to);
  if (!(await isEmpty(to))) throw new Error(`${to} exists and is not empty: name a new folder.`);
  const folder = `${to}.incomplete`;
  await mkdir(dirname(to), { recursive: true });
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new Error(`${folder} exists: another backup is being made, or one was interrupted. Delete it if none is.`);
  });
  try {
    if (!existsSync(join(engineFolder(config), 'engine.sqlite')))
      throw new Error(`DATA_DIR ${resolve(config.dataDir)} has no data.`);
    // Locked, because the copy of the data and the copy of the key that seals it belong together.
    const unlock = lockKeyFiles(config.dataDir, 'shared');
    const manifest = await fill(config, folder, options).finally(unlock);
    if (existsSync(to)) await rmdir(to);
    await rename(folder, to);
    await syncFolder(dirname(to));
    return manifest;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function fill(config: Config, folder: string, options: BackupOptions): Promise<Manifest> {
  const { signal, say } = options;
  const startedAt = new Date();
  // Data that was moved or upgraded may be copied too: it may be the last copy. It keeps its mark, so a program that
  // refuses the data also refuses it after a restore.
  const source = await openSource(await openStore(config, { join: true, anyData: true }));
  let copied: CopiedState;
  try {
    say(`copying ${megabytes(source.fileBytes)} of data`);
    const copy = await copyDatabase(source, folder, signal);
    try {
      copied = await copyLog(source, copy);
      await source.end();
      await copy.endLog();
    } finally {
      await copy.close();
    }
  } finally {
    await source.close();
  }
  const path = join(folder, DATA, DATABASE);
  const list = await createFileList(folder);
  try {
    const masterKey = await copyDataFiles(config.dataDir, folder, list, options.withMasterKey);
    signal.throwIfAborted();
    say('checking the copy');
    const [content, sha256] = await Promise.all([inspectCopy(path), digestOf(path)]);
    signal.throwIfAborted();
    await list.add(DATABASE, sha256);
    const manifest: Manifest = {
      format: 1,
      kind: 'complete',
      folder: '.',
      startedAt: startedAt.toISOString(),
      takenAt: copied.at.toISOString(),
      masterKey,
      history: copied.history,
      fileVersion: content.fileVersion,
      documents: content.documents,
      sums: await list.close(),
      files: list.files,
      dataBytes: (await stat(path)).size,
      logBytes: 0,
    };
    await writeManifest(folder, manifest);
    return manifest;
  } finally {
    await list.release();
  }
}

/** Returns the absolute path of a backup's folder. @throws when it is inside DATA_DIR, or DATA_DIR is inside it */
export function outside(dataDir: string, folder: string): string {
  const [data, to] = [`${resolve(dataDir)}${sep}`, `${resolve(folder)}${sep}`];
  if (!data.startsWith(to) && !to.startsWith(data)) return resolve(folder);
  throw new Error(`${folder} is in DATA_DIR or around it: a copy belongs on another disk.`);
}

/**
 * Whether a folder is empty, apart from entries of its file system, or does not exist. @throws when it is not a folder
 */
export async function isEmpty(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR') throw new Error(`${folder} is not a folder.`);
    throw error;
  });
  return names.every((name) => name === 'lost+found');
}

/** Formats a size in megabytes: `12.3 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
