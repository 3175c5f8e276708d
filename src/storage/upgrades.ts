import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { insertNew } from './insert-new.ts';

/** A change of stored data that a version needs. */
export interface Upgrade {
  /** The version of the data when this is done: that of the one before it, and 1; the first has 2. */
  readonly version: number;
  /** The change that it makes, for the log. */
  readonly what: string;
  /** Why no process of an earlier version may run meanwhile and later; null if it may. */
  readonly notBeside: string | null;
  /** Must be repeatable, after an interruption and by several processes at once. */
  run(db: Db): Promise<void>;
}

/**
 * Every change of stored data, in order. A new one is added at the end, and none is removed or changed: data of any
 * earlier version passes all that it lacks (docs/decisions/0070).
 */
export const UPGRADES: readonly Upgrade[] = [];

/** The version of data that no upgrade has changed. */
const FIRST_VERSION = 1;

/** The version of data that this program writes. */
export const DATA_VERSION = UPGRADES.at(-1)?.version ?? FIRST_VERSION;

/** The entry of the collection `installation`. Both only grow. */
interface VersionDocument {
  _id: 'data-version';
  /** All upgrades up to this one are done. */
  version: number;
  /** Only programs that write this version or a later one may run. */
  oldest: number;
}

const ENTRY = { _id: 'data-version' } as const;

export interface UpgradeParts {
  /** Whether no other process can use the store. */
  readonly alone: boolean;
  /** Time in which each process has asked for {@link versionTrouble}, milliseconds. */
  readonly noticedMs: number;
  readonly report: (text: string) => void;
  readonly upgrades?: readonly Upgrade[];
}

/**
 * Brings the data to the version of this program. Several processes may do it at once, and each may end at any point:
 * the next start goes on with the upgrade that was not done.
 */
export async function upgradeData(
  db: Db,
  { alone, noticedMs, report, upgrades = UPGRADES }: UpgradeParts,
): Promise<void> {
  const entries = versions(db);
  await insertNew(entries, [{ ...ENTRY, version: FIRST_VERSION, oldest: FIRST_VERSION }]);
  const done = await doneVersion(entries);
  for (const upgrade of upgrades.filter(({ version }) => version > done)) {
    if (upgrade.notBeside !== null) {
      const { matchedCount } = await entries.updateOne(
        { ...ENTRY, oldest: { $lt: upgrade.version } },
        { $set: { oldest: upgrade.version } },
      );
      if (!alone && matchedCount > 0) await sleep(noticedMs);
    }
    report(`upgrades the data to version ${upgrade.version}: ${upgrade.what}`);
    await upgrade.run(db);
    await entries.updateOne(ENTRY, { $max: { version: upgrade.version } });
  }
}

/**
 * Why a program must not use this data, with what to do; null if it may.
 * @param isRunning whether it is running already: later versions allow it beside them as long as they say nothing else
 * @param known the version of data that the program writes
 */
export async function versionTrouble(db: Db, isRunning: boolean, known = DATA_VERSION): Promise<string | null> {
  const entry = await versions(db).findOne(ENTRY);
  const needed = entry?.[isRunning ? 'oldest' : 'version'] ?? 0;
  if (needed <= known) return null;
  return `this data was upgraded by a later version of the program, to version ${needed} of the data, and this program knows ${known}. Install that version, or go back to a backup from before the upgrade`;
}

/** Notes that a store in which nothing was ever stored needs no upgrade: a command may come before the first start. */
export async function beginVersions(db: Db): Promise<void> {
  if ((await db.collection('installation').findOne({}, { projection: { _id: 1 } })) !== null) return;
  const oldest = UPGRADES.findLast(({ notBeside }) => notBeside !== null)?.version ?? FIRST_VERSION;
  await insertNew(versions(db), [{ ...ENTRY, version: DATA_VERSION, oldest }]);
}

/** Whether no start of this version has upgraded the data yet. A new store needs none. */
export async function awaitsUpgrade(db: Db): Promise<boolean> {
  if (await isNewStore(db)) return false;
  return (await doneVersion(versions(db))) < DATA_VERSION;
}

/** Whether nobody has a tenant yet. */
export async function isNewStore(db: Db): Promise<boolean> {
  return (await db.collection('tenants').findOne({}, { projection: { _id: 1 } })) === null;
}

async function doneVersion(entries: Collection<VersionDocument>): Promise<number> {
  // Another process may have just written it, so that a majority does not have it yet.
  return (await entries.findOne(ENTRY, { readConcern: 'local' }))?.version ?? FIRST_VERSION;
}

function versions(db: Db): Collection<VersionDocument> {
  return db.collection('installation');
}
