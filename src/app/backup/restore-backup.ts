import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { syncFolder } from '../../adapters/sync-folder.ts';
import type { Config } from '../../config.ts';
import { settleCopy } from '../../engine/copy/settle-copy.ts';
import { giveAllToOwner } from '../folder-owner.ts';
import { copyFile, DATA, DATABASE, RESTORING, readFileList } from './file-list.ts';
import { findManifest, type Manifest } from './manifest.ts';
import { type BackupOptions, isEmpty } from './take-backup.ts';

/** Maximum number of times that a backup is copied because `backup --follow` changes it meanwhile. */
const ROUNDS = 5;

/**
 * Restores a backup into DATA_DIR, which must be empty. First copies it into a folder there, compares it with the
 * digests of the backup, and checks it as at a start of the engine. Then moves it into place, the database last. A
 * service refuses a DATA_DIR in which a restore is under way or was interrupted.
 * @returns the manifest, with the numbers of documents and the size of the data file that is in place
 * @throws when DATA_DIR is in use; when the backup is damaged, incomplete, of another version, or changes faster than
 * it is copied; or when the signal aborts before anything is in place. DATA_DIR is empty then
 */
export async function restoreBackup(
  { dataDir }: Pick<Config, 'dataDir'>,
  from: string,
  options: Pick<BackupOptions, 'signal' | 'say'>,
): Promise<Manifest> {
  const { signal, say } = options;
  const target = await checkTarget(dataDir);
  const staging = join(target, RESTORING);
  let manifest = await manifestOf(from);
  let documents: Manifest['documents'];
  let dataBytes: number;
  try {
    say('copying and comparing the digests');
    manifest = await copyUnchanged(from, manifest, staging, options);
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
  // Files of root would stop the service, which runs as the owner of DATA_DIR.
  await giveAllToOwner(target);
  const names = await readdir(staging);
  // The database is moved last. Until all is moved, the folder of the restore marks DATA_DIR as incomplete.
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

/** Reads the manifest of a backup. @throws when there is none, or it is damaged */
async function manifestOf(from: string): Promise<Manifest> {
  const manifest = await findManifest(from);
  if (manifest) return manifest;
  throw new Error(`${resolve(from)} is not a whole backup: it has no manifest.json.`);
}

/**
 * Copies a backup into a new folder. A backup that is followed may change meanwhile, even so that it looks damaged. Its
 * manifest shows that, because it is written before any part of the old copy is deleted.
 * @returns the manifest of the copied backup
 */
async function copyUnchanged(
  from: string,
  first: Manifest,
  staging: string,
  { signal, say }: Pick<BackupOptions, 'signal' | 'say'>,
): Promise<Manifest> {
  let manifest = first;
  for (let round = 1; round <= ROUNDS; round++) {
    if (round > 1) {
      say('the copy was changed meanwhile; copying it again');
      await rm(staging, { recursive: true });
    }
    await mkdir(staging, { recursive: true, mode: 0o700 });
    const failure = await copyAll(from, manifest, staging, signal).then(
      () => null,
      (error: Error) => error,
    );
    signal.throwIfAborted();
    const after = await manifestOf(from);
    if (isDeepStrictEqual(after, manifest)) {
      if (failure) throw failure;
      return manifest;
    }
    manifest = after;
  }
  throw new Error(`${resolve(from)} changes: stop backup --follow, and restore again.`);
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

/**
 * Copies the database of a followed backup. It has no digests, but rows and log have checksums, and the manifest has a
 * minimum size of the log.
 */
async function copyFollowing(from: string, manifest: Manifest, staging: string): Promise<void> {
  const source = join(from, manifest.folder, DATA, DATABASE);
  const target = join(staging, DATABASE);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await copyFile(source, target);
  const log = await stat(`${source}-wal`).catch(() => null);
  if ((log?.size ?? 0) < manifest.logBytes)
    throw new Error(`${source}-wal is shorter than the manifest says: the last writes of the copy are missing.`);
  if (log) await copyFile(`${source}-wal`, `${target}-wal`);
}
