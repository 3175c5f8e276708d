import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Measured } from './harness.ts';
import { type Contestants, type Memory, megabytes, memoryOf, ourSide, underLoad } from './throughput-side.ts';

/** Time after the start in which the threads that it needed end, milliseconds. */
const STARTED_MS = 30_000;
/** Time in which the service returns memory that it no longer needs, milliseconds. */
const CALM_MS = 60_000;
const ORDINARY = 600;
const LARGE = { count: 20, lines: 1000 } as const;

/**
 * Resident memory of the service with its engine and threads, and together with Chromium: before any work (with
 * `--quick`, after a warm-up), at its most while 32 clients create ordinary invoices without their PDFs, at its most
 * while 20 invoices of 1,000 lines are created at once and their PDFs downloaded, and a minute after each. During these
 * minutes the service draws the ordinary invoices' PDFs, for which no request waits, one at a time, as after any load.
 */
export const benchmark: Benchmark = {
  name: 'memory',
  about: 'resident memory at rest, under load, with 20 invoices of 1,000 lines at once with PDFs, and a minute later',
  sides: [ourSide(true, measure)],
  answers: 'incomparable',
  repeats: 1,
  warmups: 0,
};

async function measure(contestants: Contestants): Promise<Measured> {
  const { service } = contestants;
  const calm = async (ms = CALM_MS): Promise<Memory> => {
    await sleep(ms);
    return memoryOf(service.pid);
  };
  const readings: Record<string, Memory> = {
    'at rest': await calm(STARTED_MS),
    'under load': (await underLoad(contestants, ORDINARY, 0)).peak,
    'a minute after the load': await calm(),
    'large invoices': (await underLoad(contestants, LARGE.count, 1, undefined, LARGE.lines)).peak,
    'a minute after the large invoices': await calm(),
  };
  const counts = Object.entries(readings).flatMap(([name, memory]) => [
    [`${name} (MB)`, megabytes(memory.service)],
    [`${name}, with Chromium (MB)`, megabytes(memory.whole)],
  ]);
  return { counts: Object.fromEntries(counts) };
}
