import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { insertNew } from './insert-new.ts';

/** A change of stored data that a version of the program needs. */
export interface Upgrade {
  /** The version of the data after this upgrade: the previous upgrade's plus 1; the first upgrade has 2. */
  readonly version: number;
  /** What the upgrade changes, for the log. */
  readonly what: string;
  /** Why no process of an earlier version may run during the upgrade and after it; null if it may. */
  readonly notBeside: string | null;
  /**
   * Applies the change. Must be safe to repeat after an interruption, and to run in several processes at the same time.
   */
  run(db: Db): Promise<void>;
}

/**
 * Every change of stored data, in order. Add new upgrades at the end, and never remove or change one: data of any
 * earlier version runs through all upgrades that it lacks (docs/decisions/0070).
 */
export const UPGRADES: readonly Upgrade[] = [];

/** The version of data that was never upgraded. */
const FIRST_VERSION = 1;

/** The version of data that this program writes. */
export const DATA_VERSION = UPGRADES.at(-1)?.version ?? FIRST_VERSION;

/** The entry of the collection `installation` with the version of the data. Both numbers only grow. */
interface VersionDocument {
  _id: 'data-version';
  /** All upgrades up to this one are done. */
  version: number;
  /** Only programs that write this version or a later one may run. */
  oldest: number;
}

const ENTRY = { _id: 'data-version' } as const;

export interface UpgradeParts {
  /** Whether no other process can use the store at the same time. */
  readonly alone: boolean;
  /** Time within which every process calls {@link versionTrouble} once, milliseconds. */
  readonly noticedMs: number;
  readonly report: (text: string) => void;
  readonly upgrades?: readonly Upgrade[];
}

/**
 * Upgrades the data to the version of this program. Several processes may do this at the same time, and each may be
 * interrupted at any point: the next start resumes with the first upgrade that is not done.
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
    const ends = upgrade.notBeside === null ? '' : `. No process of an earlier version may run: ${upgrade.notBeside}`;
    report(`upgrades the data to version ${upgrade.version}: ${upgrade.what}${ends}`);
    await upgrade.run(db);
    await entries.updateOne(ENTRY, { $max: { version: upgrade.version } });
  }
}

/**
 * Returns why a program must not use this data, and what to do; null if it may use it.
 * @param isRunning whether the program is already running: it may continue beside a later version unless that version
 *   forbids it
 * @param known the version of data that the program writes
 */
export async function versionTrouble(db: Db, isRunning: boolean, known = DATA_VERSION): Promise<string | null> {
  const entry = await versions(db).findOne(ENTRY);
  const needed = entry?.[isRunning ? 'oldest' : 'version'] ?? 0;
  if (needed <= known) return null;
  return `this data was upgraded by a later version of the program, to version ${needed} of the data, and this program knows ${known}. Install that version, or go back to a backup from before the upgrade`;
}

/** Records in an empty store that it needs no upgrade. A command may do this before the first start. */
export async function beginVersions(db: Db): Promise<void> {
  if ((await db.collection('installation').findOne({}, { projection: { _id: 1 } })) !== null) return;
  const oldest = UPGRADES.findLast(({ notBeside }) => notBeside !== null)?.version ?? FIRST_VERSION;
  await insertNew(versions(db), [{ ...ENTRY, version: DATA_VERSION, oldest }]);
}

/** Whether the data still waits for an upgrade to this version. A new store needs none. */
export async function awaitsUpgrade(db: Db): Promise<boolean> {
  if (await isNewStore(db)) return false;
  return (await doneVersion(versions(db))) < DATA_VERSION;
}

/** Whether the store has no tenant yet. */
export async function isNewStore(db: Db): Promise<boolean> {
  return (await db.collection('tenants').findOne({}, { projection: { _id: 1 } })) === null;
}

async function doneVersion(entries: Collection<VersionDocument>): Promise<number> {
  // Local, because a majority may not have the entry yet that another process has just written.
  return (await entries.findOne(ENTRY, { readConcern: 'local' }))?.version ?? FIRST_VERSION;
}

function versions(db: Db): Collection<VersionDocument> {
  return db.collection('installation');
}
