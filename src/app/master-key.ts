import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { type InstallationRepository, masterKeyMark } from '../domain/installation/first-start.ts';

type Settings = Pick<Config, 'masterKey' | 'dataDir' | 'mongodbUrl'>;

/**
 * MASTER_KEY, or the key that is created once and kept under DATA_DIR with mode 0600. From the first start on, the store keeps a mark of the
 * key that its data was made with.
 * @throws when the key does not fit the mark, or cannot be read; the message says what to do
 */
export async function openMasterKey(settings: Settings, installation: InstallationRepository): Promise<Uint8Array> {
  const known = await readMasterKey(settings);
  if (known === null && (await installation.masterKeyMark()) !== null) throw new Error(anotherKey(settings, true));
  const key = known ?? (await makeMasterKey(fileOf(settings)));
  const mark = masterKeyMark(key);
  if ((await installation.keepMasterKeyMark(mark)) !== mark) throw new Error(anotherKey(settings, false));
  return key;
}

/** Checks whether a service could start with the key of the settings, without creating or changing anything. @throws as {@link openMasterKey} */
export async function checkMasterKey(settings: Settings, installation: InstallationRepository): Promise<void> {
  const key = await readMasterKey(settings);
  const mark = await installation.masterKeyMark();
  if (mark !== null && (key === null || masterKeyMark(key) !== mark))
    throw new Error(anotherKey(settings, key === null));
}

function fileOf({ dataDir }: Settings): string {
  return join(dataDir, 'master.key');
}

function anotherKey(settings: Settings, missing: boolean): string {
  const file = fileOf(settings);
  const wrong =
    settings.masterKey !== null ? 'MASTER_KEY is not' : missing ? `${file} is not there, and it is` : `${file} is not`;
  const cure =
    settings.mongodbUrl !== null
      ? 'Set MASTER_KEY to the key of this installation'
      : `Restore ${file} from the same backup as the data and leave MASTER_KEY unset, or set MASTER_KEY to the right key`;
  return `${wrong} the key that the data was made with: documents' URLs, client secrets and webhook secrets depend on it. ${cure}. If that key is lost for good: npm run -s cli -- operator accept-master-key`;
}

/** @returns null when no key is set and none was created yet */
async function readMasterKey(settings: Settings): Promise<Uint8Array | null> {
  if (settings.masterKey !== null) return Buffer.from(settings.masterKey, 'hex');
  const file = fileOf(settings);
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (kept === null) return null;
  if (!/^[0-9a-f]{64}\n?$/.test(kept))
    throw new Error(`${file} is damaged: it must hold 64 hexadecimal digits. Restore it from a backup.`);
  return Buffer.from(kept.trim(), 'hex');
}

/** Creates the file atomically: of two processes that start at once, both use the key of the first. */
async function makeMasterKey(file: string): Promise<Uint8Array> {
  const draft = `${file}.${process.pid}`;
  try {
    const handle = await open(draft, 'w', 0o600);
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
  return Buffer.from((await readFile(file, 'utf8')).trim(), 'hex');
}
