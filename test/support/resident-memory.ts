import { readdir, readFile } from 'node:fs/promises';

/** The memory of processes, MiB. */
export interface ResidentMemory {
  /** The memory of the process itself, its own and shared parts. */
  readonly own: number;
  /** The memory of its descendants. Pages that they share count once (proportional set size). */
  readonly descendants: number;
}

/** Whether the system reports what {@link residentMemory} needs. */
export const TELLS_MEMORY = process.platform === 'linux';

/** Measures the memory of a process and of all that it started, by Linux's `/proc`. */
export async function residentMemory(pid: number): Promise<ResidentMemory> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // The name of the process, in brackets, may contain anything.
    const stat = await read(`/proc/${name}/stat`);
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  let descendants = 0;
  for (const each of parents.keys()) {
    if (each !== pid && descendsFrom(each, pid, parents))
      descendants += kibibytes('Pss', await read(`/proc/${each}/smaps_rollup`));
  }
  const own = kibibytes('VmRSS', await read(`/proc/${pid}/status`));
  return { own: Math.round(own / 1024), descendants: Math.round(descendants / 1024) };
}

function descendsFrom(pid: number, ancestor: number, parents: ReadonlyMap<number, number>): boolean {
  for (let at = parents.get(pid); at !== undefined && at > 1; at = parents.get(at)) if (at === ancestor) return true;
  return false;
}

function kibibytes(field: string, text: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}

/** Reads a file; empty if the process has ended meanwhile. */
function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
