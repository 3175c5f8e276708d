import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a running engine wrote beside its data for others to find it. */
export interface EngineNote {
  pid: number;
  uri: string;
}

/** The note of the engine that serves (or last served) the folder. */
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
