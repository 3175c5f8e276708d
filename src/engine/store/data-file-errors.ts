import { UnusableData } from '../unusable-data.ts';
import { isOutOfSpace } from './disk.ts';
import { readInstanceFile } from './instance-file.ts';

/** SQLite's primary result code for a lock that another process holds. */
const BUSY = 5;

/** Part of a data file is not as SQLite wrote it. The message completes the sentence "… is damaged: ". */
export class DamageFound extends Error {}

/** After a crash, the log was removed or emptied without having been copied to the data file. */
export class LogGone extends DamageFound {
  constructor(sumsPath: string) {
    super(
      `its write-ahead log (-wal) is gone or empty, and may have had commits that the data file has not; put the log back, or delete ${sumsPath} to go on without them`,
    );
  }
}

/** The file is no data file of this version. The message completes the sentence of `damagedFileError`. */
export class Refusal extends Error {}

/** A later version of the program wrote the file. */
export class LaterVersion extends Error {}

/** Whether another engine holds the lock. */
export function isBusy(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  return (errcode & 0xff) === BUSY;
}

/** The error for a data file that cannot be opened, with its cause in words. */
export function readableError(error: unknown, folder: string, path: string): Error {
  if (isBusy(error))
    return new Error(
      `Another engine uses the folder ${folder}${lockHolder(folder)}. Only one engine at a time can use a folder.`,
    );
  if (isOutOfSpace(error))
    return new Error(`The folder ${folder} is on a full disk: ${(error as Error).message}.`, { cause: error });
  return refusedFileError(path, error as Error);
}

/** The error for a data file that the engine refuses, with advice. */
export function refusedFileError(path: string, error: Error): Error {
  if (error instanceof Refusal) return new UnusableData(damagedFileError(path, error.message).message);
  if (!(error instanceof LaterVersion)) return damagedFileError(path, error.message);
  return new UnusableData(
    `The data file ${path} was written by a later version of the program. It was not modified. Install that version, or go back to a backup from before the upgrade.`,
  );
}

/** @param reason completes the sentence "… is damaged: " */
export function damagedFileError(path: string, reason: string): Error {
  return new Error(
    `The data file ${path} is damaged or of another version: ${reason}. It was not modified. Restore it from a backup or move it away.`,
  );
}

function lockHolder(folder: string): string {
  const instance = readInstanceFile(folder);
  return instance ? ` (process ${instance.pid}, ${instance.uri})` : '';
}
