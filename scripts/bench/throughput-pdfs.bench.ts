import { type BenchProcess, startProcess } from './bench-process.ts';
import type { Benchmark, Measured, Settings, Side } from './harness.ts';
import type { RenderAnswer, RenderRequest } from './throughput-renderer.ts';
import { type Contestants, ourSide, underLoad } from './throughput-side.ts';

/** The measured loads: the fraction of the PDFs that is requested, and the number of invoices. */
const SHARES = [
  { name: 'all PDFs asked for', every: 1, invoices: ({ quick }: Settings) => (quick ? 20 : 100) },
  { name: 'a tenth of the PDFs', every: 10, invoices: ({ quick }: Settings) => (quick ? 60 : 300) },
] as const;

/**
 * Measures the invoices per second that are created and accepted, and whose requested PDFs are drawn and downloaded.
 * The peer only draws and signs the same number of PDFs of the same invoice, without a receipt.
 */
export const benchmark: Benchmark = {
  name: 'throughput-pdfs',
  about: 'invoices accepted with their PDFs downloaded, 32 clients; the peer draws and signs the same number of PDFs',
  sides: [ourSide(true, measure), pdfsAlone()],
  answers: 'incomparable',
  repeats: 5,
  warmups: 1,
};

async function measure(contestants: Contestants, settings: Settings): Promise<Measured> {
  const rates: Record<string, number> = {};
  for (const { name, every, invoices } of SHARES) {
    const count = invoices(settings);
    const { wholeMs } = await underLoad(contestants, count, every);
    rates[name] = (count / wholeMs) * 1000;
    // The PDFs that were not requested would be drawn while the peer is measured.
    await contestants.service.ask({ do: 'rest' });
  }
  return { rates };
}

function pdfsAlone(): Side {
  let renderer: BenchProcess<'ready', RenderRequest, RenderAnswer> | null = null;
  return {
    name: 'PDFs alone',
    async open() {
      renderer = await startProcess('throughput-renderer.ts');
    },
    async run(settings) {
      const rates: Record<string, number> = {};
      for (const { name, every, invoices } of SHARES) {
        const count = invoices(settings);
        const answer = await renderer?.ask({ count: Math.ceil(count / every), lines: settings.lines });
        rates[name] = (count / (answer?.ms ?? Number.NaN)) * 1000;
      }
      return { rates };
    },
    close: async () => renderer?.close(),
  };
}
