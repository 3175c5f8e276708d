import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ASSUMED, formatModel, LIMITS, MEASURED, readInputs, scaleModel } from '../../../scripts/scale-model.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scale-'));
  return () => rmSync(folder, { recursive: true });
});

const FIGURES = {
  cpuMs: 18,
  acceptedASecond: 50,
  memoryMb: 512,
  commands: 8,
  oneKey: 16,
  severalKeys: 0.5,
  keysOfThese: 20,
  whole: 0.3,
  scattered: 0.2,
  keptKib: 35,
  expiringKib: 10,
};
/** A run whose result counts. */
const SOUND = {
  commit: '0123456789abcdef',
  dirty: false,
  machine: { cores: 2 },
  repeats: 5,
  quick: false,
  profile: false,
  lines: null,
  noise: { noisy: false },
};

interface Run {
  readonly figures?: Readonly<Record<string, number>>;
  readonly timestamp?: string;
  readonly benches?: readonly string[];
  /** What differs from {@link SOUND}. */
  readonly with?: Readonly<Record<string, unknown>>;
}

/** Writes results of the benches that have these figures. */
function write({
  figures = FIGURES,
  timestamp = '20261123T010203Z',
  benches = ['throughput', 'cluster'],
  with: other,
}: Run = {}): void {
  for (const bench of benches) {
    const own = Object.entries(MEASURED).filter(([, [of]]) => of === bench);
    const result = {
      ...SOUND,
      ...other,
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
// 3.6 million an hour are 1,000 a second.
const THOUSAND = { 'invoices-an-hour': '3600000', 'use-percent': '50' };

it('computes what a load asks for from the figures of the benches', () => {
  write();
  const found = results(THOUSAND);
  expect(found).toMatchObject({
    'invoices a second': 1000,
    // 18 ms, and a tenth of the 60 ms of a PDF.
    'cores of the service': 48,
    // Nine tenths of four hours' PDFs in twenty hours.
    'cores that draw the other PDFs in the other hours': 22,
    // An invoice takes a fiftieth of a second of a machine, and a tenth of a PDF 3 ms of its two cores.
    'processes, each on a machine like that of the bench': 46,
    'commands to the store a second': 8000,
    // 5,000 statements a second of a shard, of which an invoice takes (16 + 4) / 8, 0.3 and 0.2.
    'invoices a second of a cluster': 5000 / 3,
    clusters: 1,
    shards: 8,
    'MongoDB nodes': 24,
    'cores of the nodes': 96,
    'memory of the nodes, GiB': 384,
    'limit of a cluster with any number of shards, invoices a second': 10_000,
  });
  expect(found['memory of the processes, GiB']).toBeCloseTo((46 * 512e6) / 2 ** 30, 6);
  // 14.4 million a day, 365 days, 35 KiB and a PDF of 150 KiB, half of it on each of three replicas.
  const tib = (14.4e6 * 365 * 185 * 1.5) / 1024 ** 3;
  expect(found['storage of a year, TiB']).toBeCloseTo(tib, 6);
  expect(found['storage at the end, TiB']).toBeCloseTo(10 * tib, 5);
  const [cores, memory] = [(48 + 96) * 730 * 0.04, (384 + (46 * 512e6) / 2 ** 30) * 730 * 0.005];
  expect(found['money, a month']).toBeCloseTo(cores + memory + tib * 100, 3);
});

it('a statement with a list of keys goes to as many shards as it has keys, and to no more than there are', () => {
  write({ figures: { ...FIGURES, keysOfThese: 2 } });
  // (16 + 2) / 8, 0.3 and 0.2; with one shard 16 + 0.5.
  expect(results(THOUSAND)['invoices a second of a cluster']).toBeCloseTo(5000 / 2.75, 6);
  expect(results({ ...THOUSAND, 'shards-a-cluster': '1' })['invoices a second of a cluster']).toBeCloseTo(5000 / 17, 6);
});

it('takes another cluster where searches of every shard use up the first', () => {
  write({ figures: { ...FIGURES, scattered: 9.7 } });
  const found = results(THOUSAND);
  expect(found).toMatchObject({ 'invoices a second of a cluster': 400, clusters: 3, shards: 24, 'MongoDB nodes': 72 });
});

it('takes the newest results, says where each number is from, and what it leaves out', () => {
  write({ figures: { ...FIGURES, cpuMs: 99 }, timestamp: '20261101T000000Z' });
  write();
  const text = formatModel(readInputs(folder, { replicas: '5' }));
  expect(text).toContain(
    '18.0  (CPU ms an invoice; throughput-20261123T010203Z.json, commit 0123456, 5 repeats, the usual lines)',
  );
  for (const name of Object.keys(ASSUMED))
    expect(text).toMatch(new RegExp(`^${name} .*\\((assumed|given instead of 3): `, 'm'));
  for (const sentence of LIMITS) expect(text).toContain(`\n${sentence}\n`);
});

it('says that a result is noisy, of changed sources, or of other invoices', () => {
  write({ with: { dirty: true, lines: 40, noise: { noisy: true } } });
  expect(formatModel(readInputs(folder, {}))).toContain('5 repeats, 40 lines, uncommitted changes, NOISY)');
});

it.each([
  ['quick', { quick: true }, 'is of a quick run'],
  ['profiled', { profile: true }, 'may be of a profiled run'],
  ['earlier and unmarked', { profile: undefined }, 'may be of a profiled run'],
])('a result that is %s does not count unless it is allowed', (_name, other, why) => {
  write({ figures: { ...FIGURES, cpuMs: 99 }, timestamp: '20261124T000000Z', with: other });
  expect(() => readInputs(folder, {})).toThrow(
    `no result of the bench throughput counts (throughput-20261124T000000Z.json ${why}; --any-run takes it)`,
  );
  write();
  expect(readInputs(folder, {}).cpuMs.value).toBe(18);
  expect(readInputs(folder, {}, true).cpuMs.value).toBe(99);
});

it('says which bench is missing, which number is none, and that the invoices differ', () => {
  expect(() => readInputs(folder, {})).toThrow('npm run bench throughput');
  write();
  expect(() => readInputs(folder, { replicas: '-1' })).toThrow('--replicas takes a number above 0');
  write({ benches: ['cluster'], with: { lines: 40 } });
  expect(() => readInputs(folder, {})).toThrow('the usual lines and 40 lines');
});
