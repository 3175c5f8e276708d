import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { FileCopy } from '../../engine/copy/file-copy.ts';
import { type BackupSource, beginBackup, type DataState, type LogState } from '../../storage/backup-source.ts';
import type { Store } from '../../storage/connect.ts';
import { KEY_FILE, KEY_FILES } from '../master-key.ts';
import { copyFile, DATA, dataFiles, type FileList } from './file-list.ts';

/** Bytes that are read at once. */
const PIECE = 1024 * 1024;
/** Pieces of the file after which the log is read. */
const PIECES = 8;

/** Where a backup reads from. */
export interface OpenSource extends BackupSource {
  /** Reads a part of the data file; less at its end. */
  readFile(offset: number): Promise<Uint8Array>;
  /** Reads a part of the log; nothing if it is gone. */
  readLog(from: number, to: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Begins a backup of the engine that a store is connected to. `close` also closes the store, and the data file after it:
 * POSIX releases a process's locks on a file when the process closes it, and this process may run the engine.
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
          // An engine that stops deletes its log: the next question says so.
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

/** Copies the data file into `folder`, and meanwhile what is written to its log. @throws when `signal` aborts */
export async function copyDatabase(source: OpenSource, folder: string, signal: AbortSignal): Promise<FileCopy> {
  const copy = await FileCopy.create(join(folder, DATA, 'db'));
  try {
    for (let [offset, pieces] = [0, 0]; offset < source.fileBytes; pieces++) {
      signal.throwIfAborted();
      if (pieces % PIECES === 0) await copyLog(source, copy);
      const bytes = await source.readFile(offset);
      // The file has become shorter: the log tells of it.
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

/** What a copy has: everything that was acknowledged before a time, and a state of the data. */
export type CopiedState = Pick<Extract<LogState, { isMoved: false }>, 'at' | 'history'>;

/**
 * Copies what has been written to the log since the last call.
 * @param needLog see `FileCopy.endLog`
 * @returns what was acknowledged before this time is in the copy, the state that it has at least, and whether anything
 *   was copied
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
  // If another client had the log moved meanwhile, something else may have been read: the answer has what is right.
  await ask();
  return { at, history, isNew: true };
}

/** Copies what DATA_DIR has beside the database. @returns whether the master key is among it */
export async function copyDataFiles(
  dataDir: string,
  folder: string,
  list: FileList,
  withMasterKey: boolean,
): Promise<boolean> {
  let hasMasterKey = false;
  for await (const path of dataFiles(dataDir)) {
    // Also a key that a rotation kept: it opens earlier copies.
    if (path.startsWith(KEY_FILE) && !withMasterKey) continue;
    const sha256 = await copyFile(join(dataDir, path), join(folder, DATA, path));
    await list.add(path, sha256);
    hasMasterKey ||= KEY_FILES.includes(path);
  }
  return hasMasterKey;
}
