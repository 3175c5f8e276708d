import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ASSUMED, formatModel, MEASURED, readInputs, scaleModel } from '../../../scripts/scale-model.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scale-'));
  return () => rmSync(folder, { recursive: true });
});

const FIGURES = {
  ...{ cpuMs: 18, acceptedASecond: 50, memoryMb: 512, commands: 8 },
  ...{ targeted: 20, whole: 0.3, scattered: 0.2, keptKib: 35, expiringKib: 10 },
};

/** Writes results of the benches that have these figures. */
function write(figures: Readonly<Record<string, number>>, timestamp = '20261123T010203Z'): void {
  for (const bench of ['throughput', 'cluster']) {
    const own = Object.entries(MEASURED).filter(([, [of]]) => of === bench);
    const result = {
      commit: '0123456789abcdef',
      figures: own.map(([input, [, name]]) => ({
        name,
        sides: [
          { side: 'the limit', median: 1 },
          { side: 'ours', median: figures[input] },
        ],
      })),
    };
    writeFileSync(join(folder, `${bench}-${timestamp}.json`), JSON.stringify(result));
  }
}

const results = (changed: Record<string, string> = {}) =>
  Object.fromEntries(scaleModel(readInputs(folder, changed)).map(({ name, value }) => [name, value]));

it('computes what a load asks for from the figures of the benches', () => {
  write(FIGURES);
  // 3.6 million an hour are 1,000 a second.
  const found = results({ 'invoices-an-hour': '3600000', 'use-percent': '50' });
  expect(found).toMatchObject({
    'invoices a second': 1000,
    'cores of the service': 36,
    'processes of 2 cores': 40,
    'their memory, GiB': 20,
    'commands to the store a second': 8000,
    // 5,000 statements a second of a shard, of which an invoice takes 20 / 8, 0.3 and 0.2.
    'invoices a second of a cluster': 5000 / 3,
    clusters: 1,
    shards: 8,
    'limit of a cluster with any number of shards, invoices a second': 10_000,
  });
  // 14.4 million a day, 365 days, 35 KiB and a tenth of 150 KiB, half of it on each of three replicas.
  expect(found['storage of a year, TiB']).toBeCloseTo((14.4e6 * 365 * 50 * 1.5) / 1024 ** 3, 6);
  expect(found['storage at the end, TiB']).toBeCloseTo((14.4e6 * 3650 * 50 * 1.5) / 1024 ** 3, 5);
});

it('takes another cluster where searches of every shard use up the first', () => {
  write({ ...FIGURES, scattered: 9.7 });
  const found = results({ 'invoices-an-hour': '3600000', 'use-percent': '50' });
  expect(found).toMatchObject({ 'invoices a second of a cluster': 400, clusters: 3, shards: 24 });
});

it('takes the newest results and says where each number is from', () => {
  write({ ...FIGURES, cpuMs: 99 }, '20261101T000000Z');
  write(FIGURES, '20261123T010203Z');
  const text = formatModel(readInputs(folder, {}));
  expect(text).toContain('18.0  (CPU ms an invoice, throughput-20261123T010203Z.json, commit 0123456)');
  for (const name of Object.keys(ASSUMED)) expect(text).toMatch(new RegExp(`^${name} .*\\(assumed: `, 'm'));
});

it('says which bench is missing, and which number is none', () => {
  expect(() => readInputs(folder, {})).toThrow('npm run bench throughput');
  write(FIGURES);
  expect(() => readInputs(folder, { replicas: '-1' })).toThrow('--replicas takes a number above 0');
});
