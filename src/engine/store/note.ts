import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The content of `engine.json`, which a running engine writes to its data folder. */
export interface EngineNote {
  pid: number;
  uri: string;
}

/** The process id and URI of the engine that uses the folder, or that last used it if it was killed. */
export function readNote(folder: string): EngineNote | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'engine.json'), 'utf8')) as EngineNote;
  } catch {
    return undefined;
  }
}

export function writeNote(folder: string, note: EngineNote): void {
  writeFileSync(join(folder, 'engine.json'), JSON.stringify(note), { mode: 0o600 });
}

export function removeNote(folder: string): void {
  rmSync(join(folder, 'engine.json'), { force: true });
}
