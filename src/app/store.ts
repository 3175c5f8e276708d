import { existsSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { join as joinPath, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { SetupError } from '../domain/setup-error.ts';
import { startEngine, UnusableData } from '../engine/embedded.ts';
import { runningEngine } from '../engine/running.ts';
import { connect, type Store } from '../storage/connect.ts';
import { RESTORING } from './backup/file-list.ts';
import { checkData } from './data-watch.ts';
import { giveAllToOwner } from './folder-owner.ts';

export interface OpenStore extends Store {
  /**
   * `server`: the server at MONGODB_URL. `own engine`: an engine started here, which `close` ends. `running engine`: an
   * engine that another process runs over the same folder.
   */
  readonly kind: 'server' | 'own engine' | 'running engine';
}

interface StoreOptions {
  readonly join: boolean;
  readonly monitorCommands?: boolean | undefined;
  readonly onFailure?: ((error: Error) => void) | undefined;
  readonly checkAll?: boolean;
  readonly anyData?: boolean;
}

/**
 * Connects to the configured store: the server at MONGODB_URL, otherwise the embedded engine over DATA_DIR.
 * @param options.join whether to use an engine that another process runs over DATA_DIR. The command line does. The
 * service does not, because it would lose its store when that process ends
 * @param options.monitorCommands see {@link connect}
 * @param options.checkAll whether an engine that is started here checks its whole file, even if it was closed properly
 * @param options.onFailure called when an engine that was started here ends unexpectedly
 * @param options.anyData whether to open even data that was moved away, has arrived only in part, or is of a later
 * version. Only for callers that copy bytes: any other could misread the data, or change what another process uses
 * @throws when the store cannot be opened; the message says why
 */
export async function openStore(config: Config, { anyData = false, ...options }: StoreOptions): Promise<OpenStore> {
  const store = await openUnchecked(config, options);
  if (anyData) return store;
  try {
    await checkData(store.db);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openUnchecked(
  config: Config,
  { join, monitorCommands = false, onFailure, checkAll = false }: StoreOptions,
): Promise<OpenStore> {
  if (config.mongodbUrl !== null) {
    const store = await connect(config.mongodbUrl, undefined, monitorCommands, true).catch((cause: Error) => {
      const advice =
        'Check the URL, and that the server runs and accepts this user. Unset MONGODB_URL to use the embedded engine';
      throw new Error(`MONGODB_URL cannot be used: ${cause.message.replace(/\.$/, '')}. ${advice}.`, { cause });
    });
    return { ...store, kind: 'server' };
  }
  const joined = join ? await joinEngine(config) : null;
  return joined ?? startOwn(config, { join, monitorCommands, onFailure, checkAll });
}

const FOLDER_ERRORS: Readonly<Record<string, string>> = {
  EEXIST: 'it is not a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'this user has no write permission',
  EPERM: 'this user has no write permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/**
 * Creates DATA_DIR if it does not exist.
 * @throws when it is not writable, or a restore into it is not complete; the message says why and what to do
 */
export async function prepareDataFolder({ dataDir }: Pick<Config, 'dataDir'>): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    const text = `DATA_DIR ${resolve(dataDir)} cannot be used: ${FOLDER_ERRORS[code] ?? message}. Set it to a folder that this user can write to.`;
    // A full or missing disk is no setup error: the next start may succeed.
    throw code in FOLDER_ERRORS && code !== 'ENOSPC' ? new SetupError(text, { cause }) : new Error(text, { cause });
  }
  if (existsSync(joinPath(dataDir, RESTORING)))
    throw new Error(
      `A restore into DATA_DIR ${resolve(dataDir)} is under way or was interrupted. If none runs, delete everything in DATA_DIR and restore again.`,
    );
}

/** Returns the folder of the embedded engine. */
export function engineFolder(config: Pick<Config, 'dataDir'>): string {
  return joinPath(config.dataDir, 'db');
}

async function joinEngine(config: Config): Promise<OpenStore | null> {
  const uri = await runningEngine(engineFolder(config));
  return uri === null ? null : { ...(await connect(uri)), kind: 'running engine' };
}

async function startOwn(
  config: Config,
  { join, monitorCommands = false, onFailure, checkAll = false }: StoreOptions,
): Promise<OpenStore> {
  await prepareDataFolder(config);
  let engine: Awaited<ReturnType<typeof startEngine>>;
  try {
    engine = await startEngine({
      dataDir: engineFolder(config),
      checkAll,
      ...(onFailure && { onFailure }),
    });
  } catch (error) {
    // Another process may have started an engine meanwhile.
    const joined = join ? await joinEngine(config) : null;
    if (joined === null) throw error instanceof UnusableData ? new SetupError(error.message, { cause: error }) : error;
    return joined;
  }
  try {
    const store = await connect(engine.uri, undefined, monitorCommands);
    await giveAllToOwner(config.dataDir);
    const close = async () => {
      await store.close();
      await engine.close();
      await giveAllToOwner(config.dataDir);
    };
    return { ...store, close, kind: 'own engine' };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
