import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// `node scripts/bench/fold-profiles.ts FOLDER [ROWS]` prints the table of the profiles in a folder.

/** The parts of a `.cpuprofile` that are read. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  /** Ids of the nodes on top of the stack, and the microseconds since the sample before. */
  readonly samples?: readonly number[];
  readonly timeDeltas?: readonly number[];
}

/** Time of a function or file without the functions that it calls. */
export interface SelfTime {
  readonly name: string;
  readonly ms: number;
  /** Part of the thread's busy time, 0 to 1. */
  readonly share: number;
}

/** The times of a thread's work. Lists begin with the most expensive entry. */
export interface FoldedProfile {
  readonly busyMs: number;
  readonly wholeMs: number;
  /** Part of the busy time that garbage collection took, 0 to 1. */
  readonly gcShare: number;
  readonly functions: readonly SelfTime[];
  readonly files: readonly SelfTime[];
}

/** The number of store commands an invoice by `name collection`, beside the profiles. */
export const COMMANDS_FILE = 'commands.json';

const GC = '(garbage collector)';
/** The functions of a thread that waits: for its event loop, or for the next task of its pool. */
const IDLE = new Set(['(idle)', 'atomicsWaitLoop']);

/** Folds a profile into self times by function and by file. */
export function foldProfile({ nodes, samples = [], timeDeltas = [] }: CpuProfile): FoldedProfile {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const functions = new Map<string, number>();
  const files = new Map<string, number>();
  const totals = { whole: 0, idle: 0, gc: 0 };
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    // A sample lasts until the next one.
    const us = Math.max(0, timeDeltas[index + 1] ?? 0);
    totals.whole += us;
    if (!frame) return;
    const { functionName, url, lineNumber } = frame;
    if (IDLE.has(functionName)) totals.idle += us;
    else {
      if (functionName === GC) totals.gc += us;
      // Functions of the engine and of native modules have no file; `(program)` and the like are no functions.
      const isNative = url === '' && !functionName.startsWith('(');
      const file = url !== '' ? shortened(url) : isNative ? '(native)' : functionName;
      add(files, file, us);
      add(functions, url === '' ? functionName : `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`, us);
    }
  });
  const busy = totals.whole - totals.idle;
  const ranked = (times: ReadonlyMap<string, number>) =>
    [...times]
      .sort(([, a], [, b]) => b - a)
      .map(([name, us]) => ({ name, ms: us / 1000, share: busy > 0 ? us / busy : 0 }));
  return {
    busyMs: busy / 1000,
    wholeMs: totals.whole / 1000,
    gcShare: busy > 0 ? totals.gc / busy : 0,
    functions: ranked(functions),
    files: ranked(files),
  };
}

function add(times: Map<string, number>, name: string, us: number): void {
  times.set(name, (times.get(name) ?? 0) + us);
}

/** Returns the path within the project, within the package, or Node's own. */
function shortened(url: string): string {
  return url
    .replace(/^file:\/\//, '')
    .replace(/^.*\/node_modules\//, '')
    .replace(/^.*\/(src|scripts)\//, '$1/');
}

/** Returns a name for a worker thread, from the module that it runs; `thread` if none of ours is known. */
export function threadName({ nodes }: CpuProfile): string {
  const urls = nodes.map(({ callFrame: { url } }) => url);
  const engine = urls.some((url) => /\/src\/engine\//.test(url));
  if (engine) return 'engine';
  for (const url of urls) {
    const [, name] = /\/src\/.*\/([\w-]+-(?:thread|worker|chromium))\.ts$/.exec(url) ?? [];
    if (name !== undefined) return name;
  }
  return 'thread';
}

/** Tables of the profiles in a folder, one for each thread, and of the store's commands; empty if there are none. */
export function formatProfiles(folder: string, rows = 25): string {
  if (!existsSync(folder)) return '';
  const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const files = readdirSync(folder).sort();
  const threads = files
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => formatThread(file.slice(0, -'.cpuprofile'.length), foldProfile(read(file) as CpuProfile), rows));
  const commands = files.includes(COMMANDS_FILE) ? [formatCommands(read(COMMANDS_FILE) as Record<string, number>)] : [];
  return [...threads, ...commands].join('\n');
}

function formatCommands(commands: Readonly<Record<string, number>>): string {
  const ranked = Object.entries(commands).sort(([, a], [, b]) => b - a);
  const lines = ranked.map(([name, times]) => `  ${times.toFixed(2).padStart(7)}  ${name}\n`);
  return `store commands an invoice\n${lines.join('')}`;
}

function formatThread(name: string, folded: FoldedProfile, rows: number): string {
  const { busyMs, wholeMs, gcShare, functions, files } = folded;
  const table = (times: readonly SelfTime[]) =>
    times
      .slice(0, rows)
      .map(({ name: of, ms, share }) => `  ${ms.toFixed(0).padStart(7)} ms ${percent(share).padStart(6)}  ${of}\n`)
      .join('');
  return (
    `${name}: busy ${busyMs.toFixed(0)} of ${wholeMs.toFixed(0)} ms, garbage collection ${percent(gcShare)}\n` +
    ` by file\n${table(files)} by function\n${table(functions)}`
  );
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

if (import.meta.main) {
  const [folder, rows] = process.argv.slice(2);
  const tables = formatProfiles(folder ?? '', rows === undefined ? undefined : Number(rows));
  process.stdout.write(tables || `no .cpuprofile in ${folder ?? 'no folder'}\n`);
  if (tables === '') process.exitCode = 1;
}
