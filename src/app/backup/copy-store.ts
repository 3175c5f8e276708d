import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { FileCopy } from '../../engine/copy/file-copy.ts';
import { type BackupSource, beginBackup, type DataState, type LogState } from '../../storage/backup-source.ts';
import type { Store } from '../../storage/connect.ts';
import { KEY_FILE, KEY_FILES } from '../master-key.ts';
import { copyFile, DATA, dataFiles, type FileList } from './file-list.ts';

/** Bytes of one read. */
const PIECE = 1024 * 1024;
/** The log is read after this many reads of the data file. */
const PIECES = 8;

/** The running backup with the files that it reads from. */
export interface OpenSource extends BackupSource {
  /** Reads a part of the data file; fewer bytes at its end. */
  readFile(offset: number): Promise<Uint8Array>;
  /** Reads a part of the log; nothing if the log no longer exists. */
  readLog(from: number, to: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Begins a backup of the engine that a store is connected to. `close` also closes the store, and only then the data
 * file: POSIX releases a process's locks on a file when the process closes it, and this process may run the engine.
 * @param since see {@link beginBackup}
 */
export async function openSource(store: Pick<Store, 'client' | 'close'>, since?: DataState): Promise<OpenSource> {
  try {
    const source = await beginBackup(store.client, since);
    const file = await open(source.file, 'r');
    return {
      ...source,
      readFile: (offset) => readPart(file, offset, PIECE),
      async readLog(from, to) {
        const log = await open(source.log, 'r').catch((error: NodeJS.ErrnoException) => {
          // An engine deletes its log when it stops. The next `askLog` then fails.
          if (error.code === 'ENOENT') return null;
          throw error;
        });
        if (!log) return new Uint8Array();
        try {
          return await readPart(log, from, to - from);
        } finally {
          await log.close();
        }
      },
      async close() {
        await store.close().finally(() => file.close());
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function readPart(file: FileHandle, offset: number, most: number): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(most), 0, most, offset);
  return buffer.subarray(0, bytesRead);
}

/** Copies the data file into `folder`, and the log entries that are written meanwhile. @throws when `signal` aborts */
export async function copyDatabase(source: OpenSource, folder: string, signal: AbortSignal): Promise<FileCopy> {
  const copy = await FileCopy.create(join(folder, DATA, 'db'));
  try {
    for (let [offset, pieces] = [0, 0]; offset < source.fileBytes; pieces++) {
      signal.throwIfAborted();
      if (pieces % PIECES === 0) await copyLog(source, copy);
      const bytes = await source.readFile(offset);
      // The file has become shorter; the log records that.
      if (bytes.length === 0) break;
      await copy.writeFile(bytes, offset);
      offset += bytes.length;
    }
    return copy;
  } catch (error) {
    await copy.close();
    throw error;
  }
}

/** What a copy contains: everything that was acknowledged before `at`, and at least the state `history` of the data. */
export type CopiedState = Pick<Extract<LogState, { isMoved: false }>, 'at' | 'history'>;

/**
 * Copies the part of the log that was written since the last call.
 * @param needLog see `FileCopy.endLog`
 * @returns the state that the copy then contains, and whether anything was copied
 */
export async function copyLog(
  source: OpenSource,
  copy: FileCopy,
  needLog?: (logBytes: number) => Promise<void>,
): Promise<CopiedState & { readonly isNew: boolean }> {
  let isNew = false;
  const ask = async (): Promise<LogState> => {
    const state = await source.askLog(copy.logBytes);
    if (!state.isMoved) return state;
    isNew = true;
    await copy.writeLog(state.rest, state.from);
    await copy.endLog(needLog);
    return state;
  };
  let state = await ask();
  while (state.isMoved) state = await ask();
  const { end, at, history } = state;
  if (copy.logBytes === end) return { at, history, isNew };
  while (copy.logBytes < end) {
    const from = copy.logBytes;
    const bytes = await source.readLog(from, Math.min(end, from + PIECE));
    if (bytes.length === 0) break;
    await copy.writeLog(bytes, from);
  }
  // If another client made the engine move to a new log meanwhile, wrong bytes may have been read. The reply then
  // contains the right ones.
  await ask();
  return { at, history, isNew: true };
}

/** Copies the other files of DATA_DIR, beside the database. @returns whether the master key is among them */
export async function copyDataFiles(
  dataDir: string,
  folder: string,
  list: FileList,
  withMasterKey: boolean,
): Promise<boolean> {
  let hasMasterKey = false;
  for await (const path of dataFiles(dataDir)) {
    // Also skips keys that a rotation kept, because they open earlier copies.
    if (path.startsWith(KEY_FILE) && !withMasterKey) continue;
    const sha256 = await copyFile(join(dataDir, path), join(folder, DATA, path));
    await list.add(path, sha256);
    hasMasterKey ||= KEY_FILES.includes(path);
  }
  return hasMasterKey;
}
