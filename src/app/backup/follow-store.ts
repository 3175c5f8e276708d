import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoError } from 'mongodb';
import type { Config } from '../../config.ts';
import type { FileCopy } from '../../engine/copy/file-copy.ts';
import { inspectCopy } from '../../engine/copy/inspect-copy.ts';
import { runningEngine } from '../../engine/running.ts';
import type { DataState } from '../../storage/backup-source.ts';
import { connect } from '../../storage/connect.ts';
import { outageOf } from '../../storage/unavailable.ts';
import { lockFile } from '../file-lock.ts';
import { lockKeyFiles } from '../key-files.ts';
import { engineFolder } from '../store.ts';
import { type CopiedState, copyDatabase, copyDataFiles, copyLog, type OpenSource, openSource } from './copy-store.ts';
import { createFileList, type FileList } from './file-list.ts';
import { findManifest, type Manifest, writeManifest } from './manifest.ts';
import { type BackupOptions, isEmpty, megabytes, outside } from './take-backup.ts';

/** Time between two reads of the log, milliseconds. A copy is at most a second behind. */
const LOOK_MS = 250;
/**
 * Without changes, the manifest is still written this often, milliseconds. This shows that the copy is being followed.
 */
const IDLE_MS = 10_000;
/** Pause before a copy is begun again after its engine stopped, milliseconds. */
const AGAIN_MS = 1000;
/** A file in the folder of the copy. Only its lock matters, not its content. */
const LOCK_FILE = 'follow.lock';

export interface FollowOptions extends BackupOptions {
  /** Whether the copy in the folder may be replaced even if it is of other data. */
  readonly replace: boolean;
}

/**
 * Keeps a copy of the running engine's data in a folder until `signal` aborts. A copy cannot be continued after the
 * engine was stopped, or after the engine moved to a new log before it was copied. Such a copy stays as it is until a
 * new one beside it is complete.
 * @throws when the folder cannot be used or is full, another process follows into it, or the copy is damaged; also when
 * the folder has a copy of another installation, or with writes that the engine does not have. That copy stays as it is
 */
export async function followStore(config: Config, options: FollowOptions): Promise<void> {
  const to = outside(config.dataDir, options.to);
  const lock = join(to, LOCK_FILE);
  const manifest = await findManifest(to);
  // A follower that ended before its first copy was complete leaves a lock file but no manifest.
  const isOwn = manifest ? manifest.kind === 'following' : existsSync(lock) || (await isEmpty(to));
  if (!isOwn) throw new Error(`${to} is not empty and has no copy that --follow made: name a new folder.`);
  await mkdir(to, { recursive: true, mode: 0o700 });
  // Locked, because two followers would delete each other's copies.
  const unlock = lockFile(
    lock,
    'exclusive',
    0,
    `Another backup --follow writes to ${to}: stop it, or name a new folder.`,
  );
  try {
    await followEngines(config, options);
  } finally {
    unlock();
  }
}

/** Follows the running engine, and the next one each time the service is restarted. */
async function followEngines(config: Config, options: FollowOptions): Promise<void> {
  const { signal, say } = options;
  let isWaiting = false;
  // Only in memory: after a restart of this process, a copy that it has not replaced is protected again.
  let replace = options.replace;
  const isReplaced = () => {
    replace = false;
  };
  while (!signal.aborted) {
    const uri = await runningEngine(engineFolder(config));
    if (uri === null) {
      if (!isWaiting) say('no service runs over DATA_DIR; waiting for one');
      isWaiting = true;
    } else {
      isWaiting = false;
      await followOnce(config, uri, { ...options, replace }, isReplaced).catch((error: Error) => {
        if (signal.aborted) return;
        // An error of the engine, or its end, ends only this copy.
        if (!(error instanceof MongoError) && outageOf(error) === null) throw error;
        say(`this copy has ended (${error.message}); beginning another one`);
      });
    }
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Follows one engine. @param isReplaced called when a new copy has replaced the one in the folder */
async function followOnce(config: Config, uri: string, options: FollowOptions, isReplaced: () => void): Promise<void> {
  const { signal, say, replace } = options;
  const to = resolve(options.to);
  const startedAt = new Date().toISOString();
  const name = `copy-${startedAt.replaceAll(/[-:.]/g, '')}`;
  const folder = join(to, name);
  // Locked while the engine is followed: otherwise the copy could get data sealed with a new key, but not that key.
  const unlock = lockKeyFiles(config.dataDir, 'shared');
  let source: OpenSource | null = null;
  let copy: FileCopy | null = null;
  let list: FileList | null = null;
  try {
    const earlier = await findManifest(to);
    const since = replace ? undefined : earlier?.history;
    source = await openSource(await connect(uri), since);
    if (earlier && since && source.continues === false) {
      // Without `exact`, the data could later grow until its oplog no longer shows that it lacks writes of the copy.
      await writeManifest(to, { ...earlier, history: { ...since, exact: true } });
      throw refusal(config, to, earlier, source);
    }
    await removeCopies(to, earlier?.folder);
    say(`copying ${megabytes(source.fileBytes)} of data`);
    copy = await copyDatabase(source, folder, signal);
    const content = await inspected(source, copy, signal);
    list = await createFileList(folder);
    const masterKey = await copyDataFiles(config.dataDir, folder, list, options.withMasterKey);
    const manifest: Omit<Manifest, 'takenAt' | 'history' | 'logBytes'> = {
      format: 1,
      kind: 'following',
      folder: name,
      startedAt,
      masterKey,
      fileVersion: content.fileVersion,
      documents: content.documents,
      sums: await list.close(),
      files: list.files,
      dataBytes: (await stat(copy.path)).size,
    };
    await copy.sync();
    await keepUp(
      source,
      copy,
      signal,
      async ({ at, history }, logBytes) => {
        await writeManifest(to, { ...manifest, takenAt: at.toISOString(), history, logBytes });
      },
      async () => {
        isReplaced();
        await removeCopies(to, name);
        say(`the copy in ${to} is whole, checked and followed`);
      },
    );
  } finally {
    await Promise.all([list?.release(), copy?.close(), source?.close()]).finally(unlock);
  }
}

/** Checks the copied file while its log grows. */
async function inspected(source: OpenSource, copy: FileCopy, signal: AbortSignal) {
  await copyLog(source, copy);
  await copy.applySoFar();
  copy.isHeld = true;
  const inspection = inspectCopy(copy.path);
  const over = inspection.then(
    () => true,
    () => true,
  );
  do {
    signal.throwIfAborted();
    await copyLog(source, copy);
  } while (!(await Promise.race([over, sleep(LOOK_MS)])));
  const content = await inspection;
  await copy.release();
  return content;
}

/** Copies the log until `signal` aborts. @param isWhole called once, when the first manifest is written */
async function keepUp(
  source: OpenSource,
  copy: FileCopy,
  signal: AbortSignal,
  write: (copied: CopiedState, logBytes: number) => Promise<void>,
  isWhole: () => Promise<void>,
): Promise<void> {
  /** The state after the last round; null before the first. */
  let last: CopiedState | null = null;
  let writtenAt = 0;
  while (!signal.aborted) {
    const { isNew, ...copied } = await copyLog(source, copy, async (logBytes) => {
      if (last) await write(last, logBytes);
    });
    await copy.syncLog();
    if (isNew || !last || Date.now() - writtenAt >= IDLE_MS) {
      await write(copied, copy.logBytes);
      if (!last) await isWhole();
      writtenAt = Date.now();
    }
    last = copied;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the error that says why data must not replace a copy. */
function refusal({ dataDir }: Config, to: string, { history, takenAt }: Manifest, source: OpenSource): Error {
  const isOther = history.id !== source.history.id;
  const reason = isOther
    ? `${to} has a copy of the installation ${history.id}, taken at ${takenAt}, and DATA_DIR ${resolve(dataDir)} has the data of another one, ${source.history.id}. Is its disk not mounted?`
    : `${to} has a copy, taken at ${takenAt}, with writes up to ${timeOf(history)} that are not in DATA_DIR ${resolve(dataDir)}, whose newest write is of ${timeOf(source.history)}. Was older data put back?`;
  return new Error(`${reason} The copy stays as it is (docs/operations.md, "Backup"); --replace gives it up.`);
}

function timeOf(state: DataState): string {
  return new Date(state.seconds * 1000).toISOString();
}

/** Deletes incomplete copies, and copies that a later one has replaced. */
async function removeCopies(to: string, kept: string | undefined): Promise<void> {
  for (const name of await readdir(to))
    if (name.startsWith('copy-') && name !== kept) await rm(join(to, name), { recursive: true, force: true });
}
