import type { Benchmark } from './harness.ts';
import { processesSide } from './processes-side.ts';

const FOLLOWERS = 4;

/**
 * Measures the cost of an api process that only follows the changes of all tenants for its streams: its own CPU time,
 * and that of the store, which sends it every change of the invoices and of the events. The store is an engine in a
 * process of its own, or the server of TEST_MONGODB_URL, whose CPU time is not known.
 */
export const benchmark: Benchmark = {
  name: 'followers',
  about: 'four further api processes, each with a stream of a status and one of events; the peer has none open',
  sides: [
    processesSide({ name: 'followed by 4', apis: 1, workers: 1, idle: { count: FOLLOWERS, follow: true } }),
    processesSide({ name: 'followed by none', apis: 1, workers: 1, idle: { count: FOLLOWERS, follow: false } }),
  ],
  answers: 'incomparable',
  repeats: 5,
  warmups: 1,
};
