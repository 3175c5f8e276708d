import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

let known: number | null | undefined;

/**
 * Returns how many files, including sockets, the system lets this process open (`ulimit -n`; Node raises its soft limit
 * to the hard one). Read once: Node provides the limit only in a report, which takes some milliseconds, and longer with
 * busy threads.
 * @returns null if there is no limit, or it is unknown
 */
export function openFilesLimit(): number | null {
  if (known !== undefined) return known;
  // Without `excludeNetwork`, the report looks up the host names of all connected addresses.
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
 * Whether fewer files are left than the reserve. POSIX gives out the lowest free file number, which a test open
 * reveals.
 * @param limit result of {@link openFilesLimit}
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
