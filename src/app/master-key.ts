import { randomBytes } from 'node:crypto';
import { link, open, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../adapters/sync-folder.ts';
import type { Config } from '../config.ts';
import { masterKeyMark } from '../domain/installation/key-ring.ts';
import { SetupError } from '../domain/setup-error.ts';

export type MasterKeySettings = Pick<Config, 'masterKey' | 'previousMasterKey' | 'dataDir' | 'mongodbUrl'>;

/** A master key that this process has. */
export interface MasterKey {
  readonly bytes: Uint8Array;
  readonly mark: string;
  /** The file with the key; null if it comes from the settings. */
  readonly file: string | null;
}

/** The file of the master key in DATA_DIR, and the file of the key that is to replace it. */
export const KEY_FILE = 'master.key';
export const NEXT_KEY_FILE = 'master.key.next';
/** An interrupted rotation leaves both files, and either key may seal the data. */
export const KEY_FILES: readonly string[] = [KEY_FILE, NEXT_KEY_FILE];

/**
 * Reads the master keys that this process may use, the current one first: MASTER_KEY and MASTER_KEY_PREVIOUS, or the
 * files in DATA_DIR. To be called each time they are needed, because a rotation replaces the files.
 * @throws when a file is damaged or cannot be read
 */
export async function readMasterKeys(settings: MasterKeySettings): Promise<MasterKey[]> {
  if (settings.masterKey !== null) {
    const given = [settings.masterKey, settings.previousMasterKey].filter((text) => text !== null);
    return given.map((text) => masterKey(text, null));
  }
  const files = KEY_FILES.map((name) => join(settings.dataDir, name));
  return (await Promise.all(files.map(readKeyFile))).filter((key) => key !== null);
}

/** Shortens a mark so that operators can tell master keys apart by it. It is not secret. */
export function shortMark(mark: string): string {
  return mark.slice(0, 8);
}

/**
 * Returns why this process cannot use data that another master key seals, and what to do. @param mark of the right key
 */
export async function wrongKeyMessage(settings: MasterKeySettings, mark: string): Promise<string> {
  const file = join(settings.dataDir, KEY_FILE);
  const keys = await readMasterKeys(settings);
  const wrong =
    settings.masterKey !== null
      ? `${settings.previousMasterKey === null ? 'MASTER_KEY is not' : 'Neither MASTER_KEY nor MASTER_KEY_PREVIOUS is'} the master key of the stored data`
      : keys.length === 0
        ? `${file}, the master key of the stored data, is missing`
        : `${file} is not the master key of the stored data`;
  const found = keys.length === 0 ? '' : `, not ${keys.map((key) => shortMark(key.mark)).join(' or ')}`;
  const advice =
    settings.mongodbUrl !== null
      ? 'Set MASTER_KEY to the key of this installation'
      : `Restore ${file} from the same backup as the data and leave MASTER_KEY unset, or set MASTER_KEY to the right key`;
  return `${wrong}, which has the fingerprint ${shortMark(mark)}${found}. Document URLs, client secrets, sessions and webhook secrets depend on that key. ${advice}; if the key is being replaced, set MASTER_KEY_PREVIOUS to the right one. If that key is lost for good, run: npm run -s cli -- operator accept-master-key`;
}

/**
 * Creates a file with a new key atomically, mode 0600. Processes that do so at the same time all get the key of the
 * file that was created first.
 */
export async function makeKeyFile(file: string): Promise<MasterKey> {
  // A random name, so that no existing draft is opened: a draft that a killed process left may be a link to a key in
  // use.
  const draft = `${file}.${randomBytes(16).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    try {
      await handle.writeFile(`${randomBytes(32).toString('hex')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  // Flushed to the disk before the key seals anything.
  await syncFolder(dirname(file));
  const made = await readKeyFile(file);
  if (!made) throw new Error(`${file} was removed while it was created.`);
  return made;
}

/**
 * Whether this is the name of a draft of {@link makeKeyFile}. Other names that begin like those of key files are copies
 * that an operator made, such as `master.key.20261127`.
 */
export function isKeyDraft(name: string): boolean {
  return KEY_FILES.some((file) => name.startsWith(`${file}.`) && /^[0-9a-f]{32}$/.test(name.slice(file.length + 1)));
}

/** Deletes the drafts that killed processes left in DATA_DIR. The caller has locked the key files exclusively. */
export async function removeKeyDrafts(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) if (isKeyDraft(name)) await rm(join(dataDir, name), { force: true });
}

async function readKeyFile(file: string): Promise<MasterKey | null> {
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (kept === null) return null;
  if (!/^[0-9a-f]{64}\n?$/.test(kept))
    throw new SetupError(`${file} is damaged: it must hold 64 hexadecimal digits. Restore it from a backup.`);
  return masterKey(kept.trim(), file);
}

function masterKey(hex: string, file: string | null): MasterKey {
  const bytes = Buffer.from(hex, 'hex');
  return { bytes, mark: masterKeyMark(bytes), file };
}
