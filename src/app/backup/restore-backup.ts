import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { syncFolder } from '../../adapters/sync-folder.ts';
import type { Config } from '../../config.ts';
import { settleCopy } from '../../engine/copy/settle-copy.ts';
import { copyFile, DATA, DATABASE, RESTORING, readFileList } from './file-list.ts';
import { findManifest, type Manifest } from './manifest.ts';
import { type BackupOptions, isEmpty } from './take-backup.ts';

/**
 * Puts a backup into DATA_DIR, which must be empty: a copy is made in it first, compared with the digests of the backup and
 * checked as at a start of the engine. Then it is moved into place, the database last. A service refuses a DATA_DIR in
 * which a restore is under way or was interrupted.
 * @returns the manifest, with the numbers of documents and the size of the data file in place
 * @throws when DATA_DIR is in use, the backup is damaged, not whole or of another version, or the signal aborts before
 *   anything is in place. DATA_DIR is empty then
 */
export async function restoreBackup(
  { dataDir }: Pick<Config, 'dataDir'>,
  from: string,
  { signal, say }: Pick<BackupOptions, 'signal' | 'say'>,
): Promise<Manifest> {
  const target = await checkTarget(dataDir);
  const manifest = await manifestOf(from);
  const staging = join(target, RESTORING);
  await mkdir(staging, { recursive: true, mode: 0o700 });
  let documents: Manifest['documents'];
  let dataBytes: number;
  try {
    say('copying and comparing the digests');
    await copyAll(from, manifest, staging, signal);
    say('checking the data file');
    documents = settleCopy(join(staging, 'db'), manifest.logBytes).documents;
    if (manifest.kind === 'complete' && !isDeepStrictEqual(documents, manifest.documents))
      throw new Error(`The data file of ${resolve(from)} has other numbers of documents than the manifest says.`);
    dataBytes = (await stat(join(staging, DATABASE))).size;
    signal.throwIfAborted();
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  const names = await readdir(staging);
  // Without a database the service would begin a new one; nobody may take a part of a restore for the whole.
  for (const name of names.filter((each) => each !== 'db')) await rename(join(staging, name), join(target, name));
  await syncFolder(target);
  await rename(join(staging, 'db'), join(target, 'db'));
  await syncFolder(target);
  await rmdir(staging);
  return { ...manifest, documents, dataBytes };
}

/** @returns the absolute path of DATA_DIR @throws when it is not empty */
export async function checkTarget(dataDir: string): Promise<string> {
  const target = resolve(dataDir);
  if (await isEmpty(target)) return target;
  throw new Error(`DATA_DIR ${target} is not empty. Stop the service, move its content away, and restore again.`);
}

/** @throws when there is none, or it is damaged */
async function manifestOf(from: string): Promise<Manifest> {
  const manifest = await findManifest(from);
  if (manifest) return manifest;
  throw new Error(`${resolve(from)} is not a whole backup: it has no manifest.json.`);
}

async function copyAll(from: string, manifest: Manifest, staging: string, signal: AbortSignal): Promise<void> {
  const folder = join(from, manifest.folder);
  let files = 0;
  for await (const { path, sha256 } of readFileList(folder, manifest.sums)) {
    signal.throwIfAborted();
    const source = join(folder, DATA, path);
    if ((await copyFile(source, join(staging, path))) !== sha256)
      throw new Error(`${source} is damaged: its digest is not that of the backup.`);
    files++;
  }
  if (files !== manifest.files) throw new Error(`${folder} lists ${files} files instead of ${manifest.files}.`);
  if (manifest.kind === 'following') await copyFollowing(from, manifest, staging);
}

/** A followed copy has no digests: rows and log have checksums, and the log has a length that it reached. */
async function copyFollowing(from: string, manifest: Manifest, staging: string): Promise<void> {
  const source = join(from, manifest.folder, DATA, DATABASE);
  const target = join(staging, DATABASE);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await copyFile(source, target);
  const log = await stat(`${source}-wal`).catch(() => null);
  if ((log?.size ?? 0) < manifest.logBytes)
    throw new Error(`${source}-wal is shorter than the manifest says: the last writes of the copy are missing.`);
  if (log) await copyFile(`${source}-wal`, `${target}-wal`);
  const after = await manifestOf(from);
  if (after.takenAt !== manifest.takenAt || after.folder !== manifest.folder)
    throw new Error(`${resolve(from)} changes: stop backup --follow, and restore again.`);
}
