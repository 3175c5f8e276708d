import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** A number of the model with its origin: a figure of a bench, or what is assumed. */
export interface Input {
  readonly value: number;
  readonly from: string;
}

/** The figures of benches that the model takes: the bench and the figure's name. */
export const MEASURED = {
  cpuMs: ['throughput', 'CPU ms an invoice'],
  acceptedASecond: ['throughput', 'accepted'],
  memoryMb: ['throughput', 'peak memory (MB)'],
  commands: ['throughput', 'store commands an invoice'],
  targeted: ['cluster', 'statements an invoice with a shard key'],
  whole: ['cluster', 'statements an invoice in whole collections'],
  scattered: ['cluster', 'statements an invoice to every shard'],
  keptKib: ['cluster', 'stored KiB an invoice, for good'],
  expiringKib: ['cluster', 'stored KiB an invoice, for a time'],
} as const satisfies Record<string, readonly [string, string]>;

/** Assumptions that no bench measures, with their defaults: `--NAME VALUE` changes one. */
export const ASSUMED = {
  'invoices-an-hour': [5_000_000, 'the load that KSeF was designed for'],
  'busy-hours-a-day': [4, 'hours at that load, or its sum over a day'],
  'use-percent': [60, 'how busy cores and shards may be'],
  'shard-statements-a-second': [10_000, 'what a shard of a MongoDB cluster executes; measure it on yours'],
  'shards-a-cluster': [8, 'shards of one cluster; more load takes another cluster with its own processes'],
  'pdf-kib': [150, 'size of a signed PDF'],
  'pdf-percent': [10, 'accepted invoices whose PDF is drawn'],
  'retention-years': [10, 'how long invoices are kept'],
  replicas: [3, 'members of each shard'],
  'compressed-percent': [50, 'size on disk, indexes included, to size of the documents'],
  'core-hour-cents': [4, 'price of a core for an hour'],
  'tib-month-cents': [10_000, 'price of a TiB for a month'],
} as const satisfies Record<string, readonly [number, string]>;

type Inputs = Readonly<Record<keyof typeof MEASURED | keyof typeof ASSUMED, Input>>;

/** A result, with the formula in the names of the inputs. */
export interface Result {
  readonly name: string;
  readonly value: number;
  readonly formula: string;
}

const MIB_A_TIB = 1024 * 1024;
const DAYS_A_YEAR = 365;
const HOURS_A_MONTH = 730;

/** Computes what a load asks for. @throws {RangeError} if searches of every shard alone are more than a shard executes */
export function scaleModel(given: Inputs): Result[] {
  const of = (name: keyof Inputs) => given[name].value;
  const use = of('use-percent') / 100;
  const rate = of('invoices-an-hour') / 3600;
  const cores = (rate * of('cpuMs')) / 1000 / use;
  const processes = Math.ceil(rate / (of('acceptedASecond') * use));
  const shards = of('shards-a-cluster');
  // The shard with the most to do executes its part of the statements with a key, and all others.
  const clusterRate =
    (of('shard-statements-a-second') * use) / (of('targeted') / shards + of('whole') + of('scattered'));
  const clusters = Math.ceil(rate / clusterRate);
  const kib = of('keptKib') + (of('pdf-kib') * of('pdf-percent')) / 100;
  const invoicesADay = of('invoices-an-hour') * of('busy-hours-a-day');
  const disk = (of('compressed-percent') / 100) * of('replicas');
  const tibAYear = ((invoicesADay * DAYS_A_YEAR * kib) / 1024 / MIB_A_TIB) * disk;
  const tib = tibAYear * of('retention-years');
  const results: Result[] = [
    { name: 'invoices a second', value: rate, formula: 'invoices-an-hour / 3600' },
    {
      name: 'cores of the service',
      value: Math.ceil(cores),
      formula: 'invoices a second × cpuMs / 1000 / use-percent',
    },
    { name: 'processes of 2 cores', value: processes, formula: 'invoices a second / (acceptedASecond × use-percent)' },
    { name: 'their memory, GiB', value: (processes * of('memoryMb')) / 1024, formula: 'processes × memoryMb' },
    { name: 'commands to the store a second', value: rate * of('commands'), formula: 'invoices a second × commands' },
    {
      ...{ name: 'invoices a second of a cluster', value: clusterRate },
      formula: 'shard-statements-a-second × use-percent / (targeted / shards-a-cluster + whole + scattered)',
    },
    { name: 'clusters', value: clusters, formula: 'invoices a second / those of a cluster' },
    { name: 'shards', value: clusters * shards, formula: 'clusters × shards-a-cluster' },
    {
      ...{ name: 'limit of a cluster with any number of shards, invoices a second', value: limitOf(given) },
      formula: 'shard-statements-a-second × use-percent / (whole + scattered)',
    },
    {
      ...{ name: 'storage of a year, TiB', value: tibAYear },
      formula:
        'invoices-an-hour × busy-hours-a-day × 365 × (keptKib + pdf-kib × pdf-percent) × compressed-percent × replicas',
    },
    { name: 'storage at the end, TiB', value: tib, formula: 'storage of a year × retention-years' },
    {
      ...{ name: 'events and deliveries a day, GiB', value: ((invoicesADay * of('expiringKib')) / MIB_A_TIB) * disk },
      formula: 'invoices-an-hour × busy-hours-a-day × expiringKib × compressed-percent × replicas',
    },
    {
      ...{
        name: 'cores of the service, a month',
        value: (Math.ceil(cores) * HOURS_A_MONTH * of('core-hour-cents')) / 100,
      },
      formula: 'cores × 730 × core-hour-cents / 100',
    },
    {
      ...{ name: 'storage of the first year, a month', value: (tibAYear * of('tib-month-cents')) / 100 },
      formula: 'storage of a year × tib-month-cents / 100',
    },
  ];
  const wrong = results.find(({ value }) => !Number.isFinite(value) && value !== Number.POSITIVE_INFINITY);
  if (wrong) throw new RangeError(`${wrong.name} cannot be computed`);
  return results;
}

function limitOf(given: Inputs): number {
  return (
    (given['shard-statements-a-second'].value * given['use-percent'].value) /
    100 /
    (given.whole.value + given.scattered.value)
  );
}

/** The figures that a bench has written. */
interface Written {
  readonly date: string;
  readonly commit: string | null;
  readonly figures: readonly { readonly name: string; readonly sides: readonly { side: string; median: number }[] }[];
}

/** The inputs: the newest results of the benches in `folder`, and the assumptions. @throws if a bench has not been run */
export function readInputs(folder: string, changed: Readonly<Record<string, string | undefined>>): Inputs {
  const measured = Object.entries(MEASURED).map(([name, [bench, figure]]) => {
    const file = newestOf(folder, bench);
    const { commit, figures } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Written;
    const value = figures.find((each) => each.name === figure)?.sides.find(({ side }) => side === 'ours')?.median;
    if (value === undefined) throw new Error(`${file} has no figure "${figure}": npm run bench ${bench}`);
    return [name, { value, from: `${figure}, ${file}, commit ${commit?.slice(0, 7) ?? 'unknown'}` }];
  });
  const assumed = Object.entries(ASSUMED).map(([name, [usual, why]]) => {
    const value = changed[name] === undefined ? usual : Number(changed[name]);
    if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} takes a number above 0`);
    return [name, { value, from: `assumed: ${why}` }];
  });
  return Object.fromEntries([...measured, ...assumed]) as Inputs;
}

function newestOf(folder: string, bench: string): string {
  const files = readdirSync(folder).filter((file) => new RegExp(`^${bench}-\\d{8}T\\d{6}Z\\.json$`).test(file));
  const newest = files.sort().at(-1);
  if (newest === undefined) throw new Error(`there is no result of the bench ${bench}: npm run bench ${bench}`);
  return newest;
}

/** Three digits, or all of a whole number. */
const printed = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));

/** The inputs and the results as text. */
export function formatModel(inputs: Inputs): string {
  const lines = Object.entries(inputs).map(
    ([name, { value, from }]) => `${name.padEnd(26)} ${printed(value)}  (${from})`,
  );
  const results = scaleModel(inputs).map(({ name, value, formula }) => `${name}: ${printed(value)}  = ${formula}`);
  return [...lines, '', ...results, ''].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = Object.fromEntries(Object.keys(ASSUMED).map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options });
  try {
    const folder = fileURLToPath(new URL('../bench-results/', import.meta.url));
    process.stdout.write(formatModel(readInputs(folder, values as Record<string, string | undefined>)));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
