import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { InputError } from '../../../src/cli/command.ts';

/** How a service is reached: its address, and its key unless the system's keyring has it. */
export interface Profile {
  readonly url: string;
  /** Null if the keyring has it. */
  readonly key: string | null;
}

export interface Profiles {
  /** The name of the profile that is used if none is named; null without profiles. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const NONE: Profiles = { current: null, profiles: {} };
/** Windows has no such modes; there a file of the user's folder is the user's own. */
const HAS_MODES = process.platform !== 'win32';

/** Where the profiles are: `fatoura/profiles.json` in the user's folder of settings. */
export function profilesFile({ XDG_CONFIG_HOME, APPDATA }: NodeJS.ProcessEnv = process.env): string {
  const home = process.platform === 'win32' ? APPDATA : XDG_CONFIG_HOME;
  return join(home || join(homedir(), '.config'), 'fatoura', 'profiles.json');
}

/** @throws InputError if the file is damaged, or if others can read it */
export function readProfiles(file = profilesFile()): Profiles {
  let text: string;
  try {
    if (HAS_MODES && (statSync(file).mode & 0o077) !== 0)
      throw new InputError(`${file} has keys and can be read by others. Run: chmod 600 '${file}'`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NONE;
    throw error;
  }
  try {
    const { current, profiles } = JSON.parse(text) as Profiles;
    if (typeof profiles === 'object' && profiles !== null) return { current: current ?? null, profiles };
  } catch {}
  throw new InputError(`${file} is damaged. Delete it and log in again.`);
}

/** Writes the file anew, with mode 0600 from the beginning; who reads it meanwhile reads the whole former one. */
export function writeProfiles(profiles: Profiles, file = profilesFile()): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  if (HAS_MODES) chmodSync(unfinished, 0o600);
  renameSync(unfinished, file);
}
