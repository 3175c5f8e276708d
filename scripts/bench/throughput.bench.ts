import type { Benchmark, Settings } from './harness.ts';
import { acceptingSide } from './throughput-side.ts';

/** Enough for a profile's rare functions, also with `--quick`. */
const PROFILED = 400;

const invoices = ({ quick, profileFolder }: Settings): number =>
  profileFolder !== null ? PROFILED : quick ? 100 : 600;

/**
 * Measures invoices that 32 clients create as fast as they are answered, until the last one is accepted, without PDFs:
 * the renderer costs nothing. `accepted` is their number divided by the time from the first request. CPU time, store
 * commands (receipts included) and memory are those of the side's process with its engine and threads; the clients have
 * their own. See `startLimit` for the work of the limit side.
 */
export const benchmark: Benchmark = {
  name: 'throughput',
  about: '32 clients create invoices until all are accepted, no PDFs; peers: only what must be done, and stock Agenda',
  sides: [
    acceptingSide('ours', 'ours', invoices),
    acceptingSide('the limit', 'limit', invoices),
    acceptingSide('five stock Agenda jobs', 'stock', invoices),
  ],
  answers: 'incomparable',
  repeats: 5,
  warmups: 1,
};
