import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/app/metrics.ts';
import { watchStranded } from '../../../src/app/stranded.ts';

async function told(waiting: number) {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const metrics = createMetrics();
  const invoices = { parkedCount: async (limit: number) => Math.min(waiting, limit) };
  await watchStranded({ log }, { invoices: invoices as never }, metrics);
  const { text } = await metrics.exposition();
  const value = /^fatoura_authority_stranded (\d+)$/m.exec(text)?.[1];
  return { value, lines: lines.map((line) => JSON.parse(line)) };
}

it('live invoices that wait without an authority are an error in the log at the start, and a metric', async () => {
  const { value, lines } = await told(7);
  expect(value).toBe('7');
  expect(lines).toMatchObject([{ level: 50, waiting: 7, msg: expect.stringContaining('set DGI_URL') }]);
  expect((await told(5000)).value).toBe('1000');
});

it('without such invoices nothing is logged', async () => {
  expect(await told(0)).toEqual({ value: '0', lines: [] });
});
