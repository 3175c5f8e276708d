import type { Benchmark } from './harness.ts';
import { processesSide } from './processes-side.ts';

/**
 * Compares several processes on one store with one of each: CPU time per invoice, and claims that no other worker won.
 * On the server of TEST_MONGODB_URL, or on an engine in a process of its own, whose CPU time is not counted. Two cores
 * do not show how many invoices more cores would accept.
 */
export const benchmark: Benchmark = {
  name: 'processes',
  about: 'two api and four worker processes on one store; the peer is one of each',
  sides: [
    processesSide({ name: '2 api, 4 workers', apis: 2, workers: 4 }),
    processesSide({ name: '1 api, 1 worker', apis: 1, workers: 1 }),
  ],
  answers: 'incomparable',
  repeats: 5,
  warmups: 1,
};
