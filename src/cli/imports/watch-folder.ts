import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { INTERRUPTED, InputError } from '../command.ts';
import { reasonOf } from '../files.ts';
import { harmless, type Terminal } from '../terminal.ts';
import type { FileOutcome } from './service.ts';

/** The names of files that are imported. Spreadsheet programs create a lock file `~$…` beside an open file. */
const IMPORTED = /^(?!\.|~\$).*\.(xlsx|csv|tsv|txt)$/i;
/**
 * Pause between two scans of the folder; and how long the size and time of a file must stay the same until it counts as
 * complete, because a copy over a network may pause. Both in milliseconds.
 */
const [LOOK_MS, STILL_MS] = [1000, 5000];

/** The observed state of a file, and the time since when it has this state. */
interface Seen {
  readonly state: string;
  readonly since: number;
}

/**
 * Imports each file that is put into a folder, one at a time, until the signal ends it. A file that fails because the
 * service is away stays in the folder and is tried again at the next scan.
 * @param importOne imports a file and writes it with its verdicts to `out`
 * @returns the exit code
 * @throws {InputError} when the folder cannot be used
 */
export async function watchFolder(
  folder: string,
  terminal: Terminal,
  importOne: (path: string, out: string) => Promise<FileOutcome>,
  signal: AbortSignal,
): Promise<number> {
  const places = {
    imported: join(folder, 'imported'),
    refused: join(folder, 'refused'),
    results: join(folder, 'results'),
  };
  /** The last printed error of each file that is tried again, so that it is printed once. */
  const told = new Map<string, string>();
  try {
    for (const place of Object.values(places)) await mkdir(place, { recursive: true });
    terminal.remark(`Waiting for files in ${harmless(folder)}.`);
    let seen = new Map<string, Seen>();
    while (!signal.aborted) {
      const found = new Map<string, Seen>();
      for (const [name, state] of await statesOf(folder)) {
        if (signal.aborted) break;
        const before = seen.get(name);
        const since = before?.state === state ? before.since : performance.now();
        found.set(name, { state, since });
        if (performance.now() - since >= STILL_MS) await takeIn(name, state);
      }
      seen = found;
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
    return INTERRUPTED;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new InputError(`${folder} cannot be watched: ${reasonOf(error)}.`, { cause: error });
  }

  async function takeIn(name: string, state: string): Promise<void> {
    const path = join(folder, name);
    const free = await freeName(name, Object.values(places));
    try {
      const { isReadable } = await importOne(path, join(places.results, free));
      // The file was saved again meanwhile, so its new version must still be imported.
      if ((await stateOf(path)) !== state) return;
      await rename(path, join(isReadable ? places.imported : places.refused, free));
      told.delete(name);
    } catch (error) {
      const message = harmless((error as Error).message);
      const isRefused = error instanceof InputError;
      if (told.get(name) !== message)
        terminal.remark(`${harmless(name)}${isRefused ? '' : ' is tried again'}: ${message}`);
      told.set(name, message);
      if (isRefused) await rename(path, join(places.refused, free));
    }
  }
}

/** Returns the size and time of each file that may be imported, in the order of the names. */
async function statesOf(folder: string): Promise<Map<string, string>> {
  const names = (await readdir(folder)).filter((name) => IMPORTED.test(name)).sort();
  const states = new Map<string, string>();
  for (const name of names) {
    const state = await stateOf(join(folder, name));
    if (state !== null) states.set(name, state);
  }
  return states;
}

/** Returns the size and time of a file; null if it is no regular file, or empty. */
async function stateOf(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() && found.size > 0 ? `${found.size} ${found.mtimeMs}` : null;
}

/** Returns a name that is free in these folders: `orders (2).xlsx`. */
async function freeName(name: string, folders: readonly string[]): Promise<string> {
  const taken = new Set((await Promise.all(folders.map((each) => readdir(each)))).flat());
  const end = extname(name);
  for (let n = 1; ; n++) {
    const free = n === 1 ? name : `${basename(name, end)} (${n})${end}`;
    if (!taken.has(free)) return free;
  }
}
