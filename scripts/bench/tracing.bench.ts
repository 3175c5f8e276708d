import type { Benchmark } from './harness.ts';
import { acceptingSide } from './throughput-side.ts';

const invoices = ({ quick }: { readonly quick: boolean }): number => (quick ? 200 : 600);

/**
 * The cost of tracing: the load of `throughput` with traces sampled as they are by default and exported to a collector
 * that drops them, beside the same service without tracing.
 */
export const benchmark: Benchmark = {
  name: 'tracing',
  about: '32 clients create invoices until all are accepted, no PDFs, with and without tracing',
  sides: [acceptingSide('traced', 'traced', invoices), acceptingSide('not traced', 'ours', invoices)],
  answers: 'incomparable',
  repeats: 5,
  warmups: 1,
};
