import { readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An engine that runs over a data folder. */
export interface EngineInstance {
  pid: number;
  uri: string;
}

/** The content of `engine.json`, which a running engine writes to its data folder. */
interface Entry extends EngineInstance {
  /** Identifies the data folder of the engine: see {@link markOf}. */
  file: string;
}

/**
 * Reads the process id and URI of the engine that uses the folder, or used it when it was killed. A copy of the folder
 * has the entry of the original's engine. This entry is ignored, because clients would otherwise change the original.
 */
export function readInstanceFile(folder: string): EngineInstance | undefined {
  try {
    const { file, pid, uri } = JSON.parse(readFileSync(join(folder, 'engine.json'), 'utf8')) as Entry;
    return file === markOf(folder) ? { pid, uri } : undefined;
  } catch {
    return undefined;
  }
}

export function writeInstanceFile(folder: string, instance: EngineInstance): void {
  const entry: Entry = { ...instance, file: markOf(folder) };
  writeFileSync(join(folder, 'engine.json'), JSON.stringify(entry), { mode: 0o600 });
}

export function removeInstanceFile(folder: string): void {
  rmSync(join(folder, 'engine.json'), { force: true });
}

/**
 * Distinguishes a data folder from its copies by the device and inode of the data file. They are the same on each path
 * to the file, even in a container. @throws when there is no data file
 */
function markOf(folder: string): string {
  const path = join(folder, 'engine.sqlite');
  const { dev, ino } = statSync(path, { bigint: true });
  // Some file systems of Windows have no inode numbers.
  return ino !== 0n ? `${dev}:${ino}` : realpathSync(path);
}
