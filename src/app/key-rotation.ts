import { chmod, link, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../adapters/sync-folder.ts';
import type { Config } from '../config.ts';
import { dataKeys, type KeyPurpose } from '../domain/data-keys.ts';
import {
  changeRing,
  type KeyRing,
  type KeyRingStore,
  openRing,
  sealedBy,
  withEnd,
  withNewKey,
} from '../domain/installation/key-ring.ts';
import { createSecretBox, ENDPOINT_SECRETS } from '../domain/secret-box.ts';
import { type Resealed, resealSecrets } from '../domain/webhook/stored-secrets.ts';
import type { Store } from '../storage/connect.ts';
import { createWebhookEndpointRepository } from '../storage/webhook-endpoints.ts';
import { masterOf } from './data-keys.ts';
import { lockKeyFiles } from './key-files.ts';
import {
  KEY_FILE,
  type MasterKey,
  makeKeyFile,
  NEXT_KEY_FILE,
  readMasterKeys,
  removeKeyDrafts,
  shortMark,
} from './master-key.ts';

type Settings = Pick<Config, 'masterKey' | 'previousMasterKey' | 'dataDir' | 'mongodbUrl'>;

/** An open store with the key ring of its data. */
export interface RingOf {
  readonly store: Pick<Store, 'db'>;
  readonly keyRing: KeyRingStore;
}

export interface Rotated {
  /** Fingerprints of the old and the new master key; equal if the ring was already sealed by the present key. */
  readonly from: string;
  readonly to: string;
  /** The file with the new key; null if the new key is MASTER_KEY. */
  readonly file: string | null;
  /** The file that keeps the previous key; null if there was none, or it is MASTER_KEY_PREVIOUS. */
  readonly kept: string | null;
}

/**
 * Seals the keys of the data with another master key: with MASTER_KEY instead of MASTER_KEY_PREVIOUS, or with a new key
 * in the file of DATA_DIR, which keeps the old key in a file beside it. After an interruption at any point it can be
 * called again. Of two calls at the same time, the second has nothing to do or is refused.
 * @throws when the ring is sealed by a key that is not among the settings, or a backup is under way
 */
export async function rotateMasterKey(settings: Settings, { keyRing }: RingOf): Promise<Rotated> {
  if (settings.masterKey === null) return rotateKeyFile(settings, keyRing);
  const keys = await readMasterKeys(settings);
  const [present] = keys as [MasterKey];
  return { ...(await seal(settings, keyRing, keys, present)), file: null, kept: null };
}

async function rotateKeyFile(settings: Settings, keyRing: KeyRingStore): Promise<Rotated> {
  const { dataDir } = settings;
  const [file, next] = [join(dataDir, KEY_FILE), join(dataDir, NEXT_KEY_FILE)];
  const unlock = lockKeyFiles(dataDir, 'exclusive');
  try {
    await removeKeyDrafts(dataDir);
    // Uses the file that an interrupted rotation left, if it exists: the ring may already be sealed with that key.
    const made = await makeKeyFile(next);
    const keys = await readMasterKeys(settings);
    const sealed = await seal(settings, keyRing, keys, made);
    const old = keys.find((key) => key.file === file);
    const kept = old ? await keepBeside(file, old.mark) : null;
    await rename(next, file);
    await syncFolder(dataDir);
    return { ...sealed, file, kept };
  } finally {
    unlock();
  }
}

/**
 * Links the file of a key that is about to be replaced to a second name, because only that key opens earlier backups.
 * @returns the second name's path: the same when an interrupted rotation is resumed on the same day
 */
async function keepBeside(file: string, mark: string): Promise<string> {
  const kept = `${file}.before-${new Date().toISOString().slice(0, 10)}-${shortMark(mark)}`;
  await link(file, kept).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await chmod(kept, 0o600);
  // Flushed to the disk before the new key takes over the first name.
  await syncFolder(dirname(kept));
  return kept;
}

async function seal(
  settings: Settings,
  keyRing: KeyRingStore,
  keys: readonly MasterKey[],
  { bytes: master, mark }: MasterKey,
): Promise<Pick<Rotated, 'from' | 'to'>> {
  let from = mark;
  await changeRing(keyRing, async (ring) => {
    from = (await masterOfRing(ring, keys, settings)).mark;
    const sealed = sealedBy(ring, { openers: keys.map(({ bytes }) => bytes), master, now: new Date(), mayLose: false });
    // The sealed ring is opened before it is stored, because it is the only copy of these keys.
    if (sealed) openRing(sealed, master);
    return sealed;
  });
  return { from: shortMark(from), to: shortMark(mark) };
}

/**
 * Adds a data key, which all processes use from a minute later.
 * @param options.earlierEndAt see `withNewKey`
 * @returns the ring after the change
 */
export async function rotateDataKey(
  settings: Settings,
  { keyRing }: RingOf,
  options: { readonly purpose: KeyPurpose; readonly earlierEndAt: Date | null },
): Promise<KeyRing> {
  const keys = await readMasterKeys(settings);
  return changeRing(keyRing, async (ring) => {
    const { bytes: master } = await masterOfRing(ring, keys, settings);
    return withNewKey(ring, options.purpose, { master, now: new Date(), earlierEndAt: options.earlierEndAt });
  });
}

/** Sets when a data key expires; null: never. @throws see `withEnd` */
export async function endDataKey({ keyRing }: RingOf, number: number, endsAt: Date | null): Promise<void> {
  await changeRing(keyRing, (ring) => withEnd(ring, number, endsAt, new Date()));
}

/**
 * Seals all stored secrets again, with the newest data key in use.
 * @returns counts; `nextFrom`: when a newer key comes into use, which does not seal any secret yet; null if there is
 *   none
 */
export async function resealStoredSecrets(
  settings: Settings,
  { keyRing, store }: RingOf,
): Promise<Resealed & { readonly nextFrom: Date | null }> {
  const ring = await keyRing.read();
  if (!ring) throw new Error('This data has no keys yet: start the service first.');
  const { bytes } = await masterOfRing(ring, await readMasterKeys(settings), settings);
  const { data } = openRing(ring, bytes);
  const now = new Date();
  const next = ring.keys.find(({ purpose, usedFrom, lost }) => purpose === 'data' && usedFrom > now && !lost);
  const resealed = await resealSecrets(
    createWebhookEndpointRepository(store.db),
    createSecretBox(
      dataKeys(() => data),
      ENDPOINT_SECRETS,
    ),
  );
  return { ...resealed, nextFrom: next?.usedFrom ?? null };
}

function masterOfRing(ring: KeyRing, keys: readonly MasterKey[], settings: Settings): Promise<MasterKey> {
  if (ring.master === null)
    throw new Error(
      'The master key of this data was given up: start the service, which adopts its own, then try again.',
    );
  return masterOf(ring.master, keys, settings);
}
