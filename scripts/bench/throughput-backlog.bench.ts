import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Measured, Settings } from './harness.ts';
import { type Contestants, ourSide } from './throughput-side.ts';

/** Creations a second. */
const RATE = 30;
/** Time that the service has to find the backlog, milliseconds. */
const FOUND_MS = 3000;

const backlog = ({ quick }: Settings): number => (quick ? 2000 : 10_000);
const seconds = ({ quick }: Settings): number => (quick ? 5 : 20);

/**
 * Creations while the service works on a backlog of pending invoices. Latency counts from the time at which a request
 * should be sent. `begun meanwhile` counts the invoices that
 * were numbered, which shows that the service does work. No PDFs.
 */
export const benchmark: Benchmark = {
  name: 'throughput-backlog',
  about: `${RATE} creations a second while 10,000 pending invoices (2,000 with --quick) are processed, no PDFs`,
  sides: [ourSide(false, measure)],
  answers: 'incomparable',
  repeats: 5,
  warmups: 1,
};

async function measure({ service, create }: Contestants, settings: Settings): Promise<Measured> {
  const count = RATE * seconds(settings);
  await service.ask({ do: 'store', count: backlog(settings), lines: settings.lines });
  await sleep(FOUND_MS);
  const { pending: before = 0 } = await service.ask({ do: 'count pending' });
  const start = performance.now();
  const { latencies } = await create({ count, rate: RATE, pdfEvery: 0 });
  const lasted = (performance.now() - start) / 1000;
  const { pending: after = 0 } = await service.ask({ do: 'count pending' });
  if (after === 0) throw new Error('the backlog ended before the creations');
  await service.ask({ do: 'rest' });
  return { latencies: { create: latencies }, rates: { 'begun meanwhile': (before + count - after) / lasted } };
}
