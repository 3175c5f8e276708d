import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { packTar, unpackTar } from 'modern-tar/fs';
import type { Config } from '../../config.ts';
import type { Manifest } from './manifest.ts';
import { checkTarget, restoreBackup } from './restore-backup.ts';
import { type BackupOptions, outside, takeBackup } from './take-backup.ts';

/**
 * Writes a backup as a tar archive. The copy is first made and checked in a new folder in `workDir`, so that no part of
 * a damaged copy is sent.
 * @throws as `takeBackup`, when `output` cannot be written, and when the signal aborts. Nothing is left in `workDir`
 */
export async function sendBackup(
  config: Config,
  output: Writable,
  { workDir, ...options }: Omit<BackupOptions, 'to'> & { readonly workDir: string },
): Promise<Manifest> {
  return inNewFolder(workDir, async (folder) => {
    const to = join(folder, 'backup');
    const manifest = await takeBackup(config, { ...options, to });
    options.say('sending the archive');
    // Ignored here: the callback of each write reports the error.
    output.on('error', () => undefined);
    const sink = new Writable({ write: (bytes, _encoding, done) => void output.write(bytes, done) });
    await pipeline(packTar(to), sink, { signal: options.signal });
    return manifest;
  });
}

/**
 * Restores a backup that {@link sendBackup} wrote into DATA_DIR. The archive is first unpacked in a new folder in
 * `workDir`.
 * @throws as `restoreBackup`, and when `input` is no such archive or a truncated one. Nothing is left in `workDir`
 */
export async function receiveBackup(
  config: Pick<Config, 'dataDir'>,
  input: Readable,
  { workDir, signal, say }: Pick<BackupOptions, 'signal' | 'say'> & { readonly workDir: string },
): Promise<Manifest> {
  // A folder inside DATA_DIR would make DATA_DIR non-empty.
  outside(config.dataDir, join(workDir, 'backup'));
  await checkTarget(config.dataDir);
  return inNewFolder(workDir, async (folder) => {
    say('receiving the archive');
    const filter = ({ type }: { type?: string }) => type === 'file' || type === 'directory';
    const unpacked = unpackTar(folder, { filter, fmode: 0o600, dmode: 0o700 });
    await pipeline(input, unpacked, { signal }).catch((cause: Error) => {
      if (signal.aborted) throw cause;
      throw new Error(`The archive cannot be read: ${cause.message}.`, { cause });
    });
    return restoreBackup(config, folder, { signal, say });
  });
}

/** Runs `work` with a new folder that only its owner can read, and then deletes the folder. */
async function inNewFolder<T>(workDir: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(workDir, 'fatoura-backup-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
