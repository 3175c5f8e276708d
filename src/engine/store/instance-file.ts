import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The content of `engine.json`, which a running engine writes to its data folder. */
export interface EngineInstance {
  pid: number;
  uri: string;
}

/** The process id and URI of the engine that uses the folder, or that last used it if it was killed. */
export function readInstanceFile(folder: string): EngineInstance | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'engine.json'), 'utf8')) as EngineInstance;
  } catch {
    return undefined;
  }
}

export function writeInstanceFile(folder: string, instance: EngineInstance): void {
  writeFileSync(join(folder, 'engine.json'), JSON.stringify(instance), { mode: 0o600 });
}

export function removeInstanceFile(folder: string): void {
  rmSync(join(folder, 'engine.json'), { force: true });
}
