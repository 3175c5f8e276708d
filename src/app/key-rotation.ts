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

/** An open store with the ring of its keys. */
export interface RingOf {
  readonly store: Pick<Store, 'db'>;
  readonly keyRing: KeyRingStore;
}

export interface Rotated {
  /** Fingerprints; the same if the ring was sealed by the present key already. */
  readonly from: string;
  readonly to: string;
  /** The file that has the new key; null: MASTER_KEY does. */
  readonly file: string | null;
  /** The file that keeps the one before; null: there was none, or MASTER_KEY_PREVIOUS has it. */
  readonly kept: string | null;
}

/**
 * Seals the keys of the data by another master key: by MASTER_KEY instead of MASTER_KEY_PREVIOUS, or by a new one in the
 * file of DATA_DIR, which keeps the old one beside it. Killed at any point, it is called again; called twice at once, the
 * second finds nothing to do or is refused.
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
    // One that an interrupted rotation left is used: the ring may be sealed by it already, or in a moment.
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
 * Gives the file of a key that is about to be replaced a second name, because backups from before open with that key only.
 * @returns its path: the same one when an interrupted rotation goes on, on the same day
 */
async function keepBeside(file: string, mark: string): Promise<string> {
  const kept = `${file}.before-${new Date().toISOString().slice(0, 10)}-${shortMark(mark)}`;
  await link(file, kept).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await chmod(kept, 0o600);
  // On the disk before the first name is the new key's.
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
 * Adds a key, which all processes use a minute later.
 * @param options.earlierEndAt see `withNewKey`
 * @returns the ring after it
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

/** Sets when a data key ends; null: never. @throws see `withEnd` */
export async function endDataKey({ keyRing }: RingOf, number: number, endsAt: Date | null): Promise<void> {
  await changeRing(keyRing, (ring) => withEnd(ring, number, endsAt, new Date()));
}

/**
 * Seals all stored secrets with the newest data key in use.
 * @returns also from when a newer key is used, which seals none of them yet; null: there is none
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
