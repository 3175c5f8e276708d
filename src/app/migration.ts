import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Config } from '../config.ts';
import { COLLECTIONS } from '../storage/collection-rules.ts';
import { CollectionsDiffer, type Compared, compareCollection } from '../storage/compare-collection.ts';
import { connect } from '../storage/connect.ts';
import { abandonMove, beginMove, collectionNames, endMove } from '../storage/data-moves.ts';
import { createKeyRingStore } from '../storage/key-ring.ts';
import { moveCollection } from '../storage/move-collection.ts';
import { compareIndexes, moveIndexes } from '../storage/move-indexes.ts';
import { hasLiveWorker, type WriteWatch, watchWrites } from '../storage/other-writers.ts';
import { versionTrouble } from '../storage/upgrades.ts';
import { checkMasterKey } from './data-keys.ts';
import { NOTICED_MS } from './data-watch.ts';
import { KEY_FILE } from './master-key.ts';
import { openStore } from './store.ts';

/** Reports the progress of a move. `documents`: the approximate number of documents that it must process. */
export interface MoveReports {
  /** Called before waiting until running processes have noticed the move, milliseconds. */
  readonly waits: (ms: number) => void;
  readonly begins: (phase: 'moving' | 'verifying', collections: number, documents: number) => void;
  readonly passes: (collection: string, batch: { readonly documents: number; readonly bytes: number }) => void;
}

/** The result of a move: the data that was moved and verified. */
export interface Moved {
  /** The database that now has the data, without a password. */
  readonly address: string;
  /** The collections, with the content that both databases have; null if an earlier call finished the move. */
  readonly collections: readonly (Compared & { readonly name: string; readonly indexes: number })[] | null;
  /** The file of the master key; null if the key is MASTER_KEY, or stays with the installation at the source. */
  readonly masterKeyFile: string | null;
}

interface Source {
  readonly db: Db;
  readonly address: string;
  readonly isEmbedded: boolean;
  close(): Promise<void>;
}

/**
 * Moves all data of an installation to another MongoDB-compatible server, while the service is stopped. It can be
 * interrupted at any point and called again. See docs/decisions/0066.
 * @param from a `mongodb://` URL; null for the embedded engine over DATA_DIR
 * @throws when another process uses the source, the target has other data, the master key is not the right one, or a
 * document differs in the end; the message says what to do
 */
export async function moveData(config: Config, from: string | null, to: string, report: MoveReports): Promise<Moved> {
  const source = await openSource(config, from);
  try {
    const target = await connectTo(to, '--to');
    try {
      const trouble = await versionTrouble(source.db, false);
      if (trouble !== null) throw new Error(trouble);
      const masterKeyFile = await keyFileOf(config, source);
      const moved = { address: target.address, masterKeyFile };
      if (source.isEmbedded === false && (await hasLiveWorker(source.db)))
        throw new Error(`a worker uses ${source.address}. Stop every process of the service first`);
      if ((await beginMove(source, target)).isOver) return { ...moved, collections: null };
      const watch = await watchWrites(source.db);
      try {
        if (!source.isEmbedded) {
          report.waits(NOTICED_MS);
          await sleep(NOTICED_MS, undefined, { signal: watch.signal });
        }
        return { ...moved, collections: await moveAll(source.db, target.db, watch, report) };
      } catch (error) {
        watch.signal.throwIfAborted();
        throw error;
      } finally {
        await watch.close();
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Makes the source of a move usable again. @returns false if it was not being moved @throws as {@link moveData} */
export async function abandonData(config: Config, from: string | null): Promise<boolean> {
  const source = await openSource(config, from);
  try {
    return await abandonMove(source.db);
  } finally {
    await source.close();
  }
}

async function moveAll(source: Db, target: Db, watch: WriteWatch, report: MoveReports): Promise<Moved['collections']> {
  const { signal } = watch;
  // A collection without a rule is not the service's, or is of another version. It is moved too, so that nothing is
  // lost.
  const names = (await collectionNames(source)).filter((name) => (COLLECTIONS[name]?.move ?? 'moved') === 'moved');
  const documents = await countAll(source, names);
  report.begins('moving', names.length, documents - (await countAll(target, names)));
  for (const name of names) {
    // Created before the documents, although that costs more than building them later: an interrupted build starts from
    // the beginning.
    await moveIndexes(source, target, name, false);
    await moveCollection(source, target, name, (batch) => report.passes(name, batch), signal);
  }
  report.begins('verifying', names.length, documents);
  const collections: (Compared & { name: string; indexes: number })[] = [];
  for (const name of names) {
    const compared = await compareCollection(source, target, name, (batch) => report.passes(name, batch), signal);
    // TTL indexes are created only now, because they delete documents.
    await moveIndexes(source, target, name, true);
    collections.push({ name, ...compared, indexes: await compareIndexes(source, target, name) });
  }
  const strangers = (await collectionNames(target)).filter(
    (name) => !names.includes(name) && COLLECTIONS[name]?.move === undefined,
  );
  if (strangers.length > 0) throw new CollectionsDiffer(`the source has no collection ${strangers.join(', ')}`);
  await watch.confirm();
  await endMove(source, target);
  return collections;
}

async function countAll(db: Db, names: readonly string[]): Promise<number> {
  const counts = await Promise.all(names.map((name) => db.collection(name).estimatedDocumentCount()));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function openSource(config: Config, from: string | null): Promise<Source> {
  if (from !== null) return { ...(await connectTo(from, '--from')), isEmbedded: false };
  const folder = join(config.dataDir, 'db');
  if (!existsSync(folder)) throw new Error(`there is no data to move in DATA_DIR ${resolve(config.dataDir)}`);
  // `anyData`, because an interrupted move resumes with data that it has marked, and a finished move can be abandoned.
  const options = { join: false, anyData: true } as const;
  const store = await openStore({ ...config, mongodbUrl: null }, options).catch((cause: Error) => {
    throw new Error(`${cause.message.replace(/\.$/, '')}. Stop the service first, if it runs`, { cause });
  });
  return { ...store, address: `the embedded engine in ${resolve(folder)}`, isEmbedded: true };
}

async function connectTo(url: string, option: string) {
  const store = await connect(url).catch((cause: Error) => {
    throw new Error(`${option} cannot be used: ${cause.message}`, { cause });
  });
  const hosts = store.client.options.srvHost ?? store.client.options.hosts.join(',');
  return { ...store, address: `mongodb://${hosts}/${store.db.databaseName}` };
}

/**
 * Checks the master key if the settings have one, because the data cannot be used without it. @returns the key file;
 * null without one
 */
async function keyFileOf(config: Config, { db, isEmbedded }: Source): Promise<string | null> {
  if (!isEmbedded && config.masterKey === null) return null;
  const used = await checkMasterKey({ ...config, mongodbUrl: null }, createKeyRingStore(db));
  return config.masterKey === null ? resolve(used?.file ?? join(config.dataDir, KEY_FILE)) : null;
}
