import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { type InstallationRepository, masterKeyMark } from '../domain/installation/first-start.ts';

type Settings = Pick<Config, 'masterKey' | 'dataDir' | 'mongodbUrl'>;

/**
 * Returns MASTER_KEY, or the key that is generated once and stored under DATA_DIR with mode 0600. From the first start
 * on, the store holds a fingerprint of the key that its data depends on.
 * @throws when the key is another one or cannot be read; the message says what to do
 */
export async function openMasterKey(settings: Settings, installation: InstallationRepository): Promise<Uint8Array> {
  const known = await readMasterKey(settings);
  if (known === null && (await installation.masterKeyMark()) !== null) throw new Error(wrongKeyMessage(settings, true));
  const key = known ?? (await makeMasterKey(fileOf(settings)));
  const mark = masterKeyMark(key);
  if ((await installation.keepMasterKeyMark(mark)) !== mark) throw new Error(wrongKeyMessage(settings, false));
  return key;
}

/** Checks that a service could start with the configured key; writes nothing. @throws as {@link openMasterKey} */
export async function checkMasterKey(settings: Settings, installation: InstallationRepository): Promise<void> {
  const key = await readMasterKey(settings);
  const mark = await installation.masterKeyMark();
  if (mark !== null && (key === null || masterKeyMark(key) !== mark))
    throw new Error(wrongKeyMessage(settings, key === null));
}

function fileOf({ dataDir }: Settings): string {
  return join(dataDir, 'master.key');
}

function wrongKeyMessage(settings: Settings, missing: boolean): string {
  const file = fileOf(settings);
  const wrong =
    settings.masterKey !== null
      ? 'MASTER_KEY is not the master key of the stored data'
      : missing
        ? `${file}, the master key of the stored data, is missing`
        : `${file} is not the master key of the stored data`;
  const advice =
    settings.mongodbUrl !== null
      ? 'Set MASTER_KEY to the key of this installation'
      : `Restore ${file} from the same backup as the data and leave MASTER_KEY unset, or set MASTER_KEY to the right key`;
  return `${wrong}. Document URLs, client secrets and webhook secrets depend on that key. ${advice}. If that key is lost for good, run: npm run -s cli -- operator accept-master-key`;
}

/** The key of the settings or of the file; null if neither exists. */
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

/** Creates the file atomically. Processes that start at the same time all use the file that was created first. */
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
