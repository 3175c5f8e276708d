import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { LiveMeans } from '../../../src/app/live-needs.ts';
import { createMetrics } from '../../../src/app/metrics.ts';
import { watchStranded } from '../../../src/app/stranded.ts';

const NO_AUTHORITY: LiveMeans = { hasAuthority: false, signers: () => null };

/** @param waiting the tenants of the unfinished live invoices, none of them signed @param keyed those with live keys */
async function told(waiting: readonly string[], keyed: readonly string[], means = NO_AUTHORITY) {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const metrics = createMetrics();
  const invoices = {
    unfinishedLive: async (limit: number) => Math.min(limit, waiting.length),
    unsignedLive: async (signers: ReadonlySet<string>, limit: number) =>
      Math.min(limit, waiting.filter((each) => !signers.has(each)).length),
  };
  const all = [...keyed.map((id) => ({ id, environments: ['live'] })), { id: 'ten_test', environments: ['test'] }];
  const tenants = { list: async () => all as never };
  await watchStranded({ log }, { invoices, tenants }, metrics, means);
  const { text } = await metrics.exposition();
  const value = /^fatoura_authority_stranded (\d+)$/m.exec(text)?.[1];
  return { value, lines: lines.map((line) => JSON.parse(line)) };
}

it('live invoices that wait without an authority are an error in the log at the start, and a metric', async () => {
  const { value, lines } = await told(Array(7).fill('ten_a'), ['ten_a']);
  expect(value).toBe('7');
  expect(lines).toMatchObject([{ level: 50, waiting: 7, tenants: 1, msg: expect.stringContaining('set DGI_URL') }]);
  expect((await told(Array(5000).fill('ten_a'), [])).value).toBe('1000');
});

it('live keys that are valid without an authority are an error in the log', async () => {
  const { value, lines } = await told([], ['ten_a', 'ten_b']);
  expect(value).toBe('0');
  expect(lines).toMatchObject([{ level: 50, waiting: 0, tenants: 2 }]);
});

it('without a certificate of the platform those count whose tenant has none either', async () => {
  const means: LiveMeans = { hasAuthority: true, signers: () => new Set(['ten_own']) };
  const { value, lines } = await told(['ten_a', 'ten_own', 'ten_a'], ['ten_own'], means);
  expect(value).toBe('2');
  expect(lines).toMatchObject([{ level: 50, waiting: 2, tenants: 0, msg: expect.stringContaining('SIGNING_P12') }]);
  expect(await told(['ten_own'], ['ten_own'], means)).toEqual({ value: '0', lines: [] });
});

it('without such invoices and keys nothing is logged', async () => {
  expect(await told([], [])).toEqual({ value: '0', lines: [] });
});
