import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The facts of a process in `/proc/PID/stat`. */
export interface ProcessFacts {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  readonly group: number;
  /** CPU time of all its threads, those that ended included, milliseconds. */
  readonly cpuMs: number;
  /** Resident memory, bytes. Pages that it shares with other processes are counted. */
  readonly residentBytes: number;
}

/** Used time and memory of several processes. */
export interface Usage {
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/** The unit of times in `/proc/PID/stat`, which Linux fixes for programs on every platform, in milliseconds. */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** Whether this system tells about processes as Linux does. */
export const hasProcesses = existsSync('/proc/self/stat');

/** Parses `/proc/PID/stat`: `pid (name) state parent group …`, where the name may hold anything. */
export function readStat(text: string): ProcessFacts {
  const [opening, closing] = [text.indexOf('('), text.lastIndexOf(')')];
  const fields = text.slice(closing + 2).split(' ');
  return {
    pid: Number(text.slice(0, opening)),
    name: text.slice(opening + 1, closing),
    parent: Number(fields[1]),
    group: Number(fields[2]),
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    residentBytes: Number(fields[21]) * PAGE_BYTES,
  };
}

/** Returns all processes; none on a system other than Linux. */
export function processes(): ProcessFacts[] {
  if (!hasProcesses) return [];
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      return [readStat(readFileSync(`/proc/${entry}/stat`, 'utf8'))];
    } catch {
      // It has ended since.
      return [];
    }
  });
}

/**
 * Returns the usage of a process and its descendants. Chromium is counted apart, with every process below it.
 * @param all all processes, of one moment
 */
export function usageOf(root: number, all: readonly ProcessFacts[]): { service: Usage; chromium: Usage } {
  const service: ProcessFacts[] = [];
  const chromium: ProcessFacts[] = [];
  const visit = (facts: ProcessFacts, inChromium: boolean): void => {
    const belongs = inChromium || /chrom/i.test(facts.name);
    (belongs ? chromium : service).push(facts);
    for (const child of all) if (child.parent === facts.pid) visit(child, belongs);
  };
  const first = all.find(({ pid }) => pid === root);
  if (first) visit(first, false);
  return { service: sum(service), chromium: sum(chromium) };
}

function sum(of: readonly ProcessFacts[]): Usage {
  return {
    cpuMs: of.reduce((total, { cpuMs }) => total + cpuMs, 0),
    residentBytes: of.reduce((total, { residentBytes }) => total + residentBytes, 0),
  };
}
