import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

let known: number | null | undefined;

/**
 * How many files, sockets included, the system lets this process open (`ulimit -n`; Node raises its soft limit to the
 * hard one). Read once: Node tells it in a report only, which takes some milliseconds, and longer with busy threads.
 * @returns null if there is no limit, or none that is known
 */
export function openFilesLimit(): number | null {
  if (known !== undefined) return known;
  // Otherwise it looks up the names of all connected addresses.
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: unknown } } };
  report.excludeNetwork = excludeNetwork;
  const soft = userLimits?.open_files?.soft;
  known = typeof soft === 'number' && soft > 0 ? soft : null;
  return known;
}

/**
 * Whether so few files are left that those of a reserve would be used next. POSIX gives out the lowest free number.
 * @param limit as from {@link openFilesLimit}
 */
export function isShortOfFiles(limit: number, reserve: number): boolean {
  try {
    const lowest = openSync(devNull, 'r');
    closeSync(lowest);
    return lowest >= limit - reserve;
  } catch {
    return true;
  }
}
