import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import type { InvoiceIds } from '../domain/invoice/invoice-ids.ts';
import { keyEarlierCustomers } from './earlier-customers.ts';
import { placeEarlierIdleWork } from './earlier-idle-work.ts';
import { KEY_INDEX, keepEarlierKeys } from './earlier-keys.ts';
import { NUMBER_INDEXES, reserveEarlierNumbers } from './earlier-numbers.ts';
import { insertNew } from './insert-new.ts';
import { refuseEarlierMark } from './key-ring.ts';
import { hasLiveWorker } from './other-writers.ts';

/** A change of stored data that a version needs. */
export interface Upgrade {
  /** The version of the data when this is done: its place in the list, from 1. */
  readonly version: number;
  /** The change that it makes, for the log. */
  readonly what: string;
  /** Why no process of an earlier version may run meanwhile and later; null if it may. */
  readonly notBeside: string | null;
  /** Must be repeatable, after an interruption and by several processes at once. */
  run(db: Db, ids: InvoiceIds): Promise<void>;
}

/** From this version on, programs know the key ring. */
export const KEY_RING_VERSION = 4;

/**
 * Everything that was ever changed in stored data, in order. A new one is added at the end, and none is removed or
 * changed: data of any earlier version passes all of them (docs/decisions/0070).
 */
export const UPGRADES: readonly Upgrade[] = [
  {
    version: 1,
    what: 'takes the numbers of the stored invoices into invoice_numbers',
    notBeside: 'it would give a number a second time',
    run: reserveEarlierNumbers,
  },
  {
    version: 2,
    what: 'gives the stored invoices the key by which their customer is found',
    notBeside: 'what it stores would not be found by its customer',
    run: keyEarlierCustomers,
  },
  {
    version: 3,
    what: 'keeps the idempotency keys of the stored invoices in earlier_idempotency_keys',
    notBeside: 'it would create a second invoice for an Idempotency-Key',
    run: keepEarlierKeys,
  },
  {
    version: KEY_RING_VERSION,
    what: 'has versions that know no key ring refuse the data',
    // Until there is a second data key they derive the same.
    notBeside: null,
    run: refuseEarlierMark,
  },
  {
    version: 5,
    what: 'gives the PDFs that nobody waits for a place in the queue, where the first versions gave them none',
    notBeside: null,
    run: placeEarlierIdleWork,
  },
];

/** The version of data that this program writes. */
export const DATA_VERSION = versionOf(UPGRADES);

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
  /** Time in which each process of a version with {@link versionTrouble} has asked it, milliseconds. */
  readonly noticedMs: number;
  readonly report: (text: string) => void;
  readonly upgrades?: readonly Upgrade[];
}

/**
 * Brings the data to the version of this program. Several processes may do it at once, and each may end at any point:
 * the next start goes on with the upgrade that was not done.
 * @throws when a process of an earlier version still runs that must not; the message says what to do
 */
export async function upgradeData(
  db: Db,
  ids: InvoiceIds,
  { alone, noticedMs, report, upgrades = UPGRADES }: UpgradeParts,
): Promise<void> {
  const entries = versions(db);
  await insertNew(entries, [{ ...ENTRY, version: 0, oldest: 0 }]);
  const done = (await hasEarlierIndex(db)) ? 0 : await doneVersion(entries);
  for (const upgrade of upgrades.filter(({ version }) => version > done)) {
    if (upgrade.notBeside !== null) {
      const { matchedCount } = await entries.updateOne(
        { ...ENTRY, oldest: { $lt: upgrade.version } },
        { $set: { oldest: upgrade.version } },
      );
      // Data without a version: its programs do not ask. One that was just started has raised `oldest` already.
      if (!alone && done > 0 && matchedCount > 0) await sleep(noticedMs);
      if (!alone && (await hasLiveWorker(db)) && (await doneVersion(entries)) < upgrade.version)
        throw new Error(
          `processes of an earlier version still use this data, and none may run beside this one: ${upgrade.notBeside}. Stop all of them, then start again`,
        );
    }
    report(`upgrades the data to version ${upgrade.version}: ${upgrade.what}`);
    await upgrade.run(db, ids);
    await entries.updateOne(ENTRY, { $max: { version: upgrade.version } });
  }
}

/** Ends, within seconds, all processes of versions before this one of the data, and refuses their start. */
export async function forbidBefore(db: Db, version: number): Promise<void> {
  await versions(db).updateOne({ ...ENTRY, oldest: { $lt: version } }, { $set: { oldest: version } });
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
  const alone = UPGRADES.filter(({ notBeside }) => notBeside !== null).map(({ version }) => version);
  await insertNew(versions(db), [{ ...ENTRY, version: DATA_VERSION, oldest: Math.max(...alone) }]);
}

/** Whether no start of this version has upgraded the data yet. A new store needs none. */
export async function awaitsUpgrade(db: Db): Promise<boolean> {
  if (await isNewStore(db)) return false;
  return (await doneVersion(versions(db))) < DATA_VERSION || hasEarlierIndex(db);
}

/** Whether nobody has a tenant yet. */
export async function isNewStore(db: Db): Promise<boolean> {
  return (await db.collection('tenants').findOne({}, { projection: { _id: 1 } })) === null;
}

/**
 * Whether a program that knows no versions has used the data since: it creates the indexes that upgrades drop. Its
 * data has to pass all upgrades again.
 */
async function hasEarlierIndex(db: Db): Promise<boolean> {
  const indexes = await db.collection('invoices').listIndexes().toArray();
  const earlier = new Set([...NUMBER_INDEXES, KEY_INDEX].map(({ name }) => name));
  return indexes.some(({ name }) => earlier.has(name));
}

async function doneVersion(entries: Collection<VersionDocument>): Promise<number> {
  // Another process may have just written it, so that a majority does not have it yet.
  return (await entries.findOne(ENTRY, { readConcern: 'local' }))?.version ?? 0;
}

function versions(db: Db): Collection<VersionDocument> {
  return db.collection('installation');
}

function versionOf(upgrades: readonly Upgrade[]): number {
  return upgrades.at(-1)?.version ?? 0;
}
