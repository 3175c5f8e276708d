import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { WrittenResult } from './bench/report.ts';

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
  oneKey: ['cluster', 'statements an invoice with one shard key'],
  severalKeys: ['cluster', 'statements an invoice with several shard keys'],
  keysOfThese: ['cluster', 'shard keys an invoice in these'],
  whole: ['cluster', 'statements an invoice in whole collections'],
  scattered: ['cluster', 'statements an invoice to every shard'],
  keptKib: ['cluster', 'stored KiB an invoice, for good'],
  expiringKib: ['cluster', 'stored KiB an invoice, for a time'],
} as const satisfies Record<string, readonly [string, string]>;

/** Assumptions, with their defaults: `--NAME VALUE` changes one. */
export const ASSUMED = {
  'invoices-an-hour': [5_000_000, 'the load that KSeF was designed for'],
  'busy-hours-a-day': [4, 'hours at that load, or its sum over a day'],
  'use-percent': [60, 'how busy cores and shards may be'],
  'shard-statements-a-second': [10_000, 'what a shard of a MongoDB cluster executes; measure it on yours'],
  'shards-a-cluster': [8, 'shards of one cluster; more load takes another cluster with its own processes'],
  'pdf-kib': [150, 'size of a signed PDF'],
  'pdf-percent': [
    10,
    'accepted invoices whose PDF is drawn at once, for a request or a mail; the rest in the other hours',
  ],
  'pdf-cpu-ms': [60, 'CPU time of a signed PDF of 20 lines, measured in docs/decisions/0046'],
  'retention-years': [10, 'how long invoices are kept'],
  replicas: [3, 'members of each shard'],
  'node-cores': [4, 'cores of each member'],
  'node-memory-gib': [16, 'memory of each member'],
  'compressed-percent': [50, 'size on disk, indexes included, to size of the documents'],
  'core-hour-cents': [4, 'price of a core for an hour'],
  'gib-hour-cents': [0.5, 'price of a GiB of memory for an hour'],
  'tib-month-cents': [10_000, 'price of a TiB of disk for a month'],
} as const satisfies Record<string, readonly [number, string]>;

/** What the results do not say. docs/scaling.md, "The model" has these sentences too. */
export const LIMITS = [
  'Live streams and pages are not counted: neither their memory and CPU time, nor the change streams of the api processes.',
  'Only creations without webhooks are counted: no reads, lists, polls of a status or deliveries.',
  'Every process is as full as the one of the bench. Several smaller ones write smaller groups and spend more CPU time an invoice: 7.9 ms beside 5.2 (docs/figures.md).',
  'The routers and config servers of a cluster, networks, backups, spare machines, and the browser that draws PDFs (150 MiB a process, docs/decisions/0046) are not counted.',
  'The embedded engine of the bench is part of cpuMs and memoryMb, although a cluster replaces it.',
] as const;

type Inputs = Readonly<Record<keyof typeof MEASURED | keyof typeof ASSUMED | 'machineCores', Input>>;

/** A result, with the formula in the names of the inputs. */
export interface Result {
  readonly name: string;
  readonly value: number;
  readonly formula: string;
}

const MIB_A_TIB = 1024 * 1024;
const MB_A_GIB = 2 ** 30 / 1e6;
const DAYS_A_YEAR = 365;
const HOURS_A_MONTH = 730;

/** Computes what a load asks for. @throws {RangeError} if a result is no number */
export function scaleModel(given: Inputs): Result[] {
  const results: Result[] = [];
  const add = (name: string, value: number, formula: string): number => {
    if (Number.isNaN(value)) throw new RangeError(`${name} cannot be computed`);
    results.push({ name, value, formula });
    return value;
  };
  const of = (name: keyof Inputs) => given[name].value;
  const use = of('use-percent') / 100;
  const pdfSeconds = of('pdf-cpu-ms') / 1000;
  const atOnce = of('pdf-percent') / 100;
  const busyHours = of('busy-hours-a-day');

  const rate = add('invoices a second', of('invoices-an-hour') / 3600, 'invoices-an-hour / 3600');
  const busyCores = add(
    'cores of the service',
    Math.ceil((rate * (of('cpuMs') / 1000 + atOnce * pdfSeconds)) / use),
    'invoices a second × (cpuMs + pdf-percent × pdf-cpu-ms) / 1000 / use-percent',
  );
  const otherCores = add(
    'cores that draw the other PDFs in the other hours',
    atOnce === 1 ? 0 : Math.ceil((rate * busyHours * (1 - atOnce) * pdfSeconds) / (24 - busyHours) / use),
    'invoices a second × busy-hours-a-day × (1 - pdf-percent) × pdf-cpu-ms / 1000 / (24 - busy-hours-a-day) / use-percent',
  );
  const processes = add(
    'processes, each on a machine like that of the bench',
    Math.ceil((rate * (1 / of('acceptedASecond') + (atOnce * pdfSeconds) / of('machineCores'))) / use),
    'invoices a second × (1 / acceptedASecond + pdf-percent × pdf-cpu-ms / 1000 / machineCores) / use-percent',
  );
  const memory = add('memory of the processes, GiB', (processes * of('memoryMb')) / MB_A_GIB, 'processes × memoryMb');
  add('commands to the store a second', rate * of('commands'), 'invoices a second × commands');

  const shards = of('shards-a-cluster');
  // A statement with a list of keys goes to each of their shards.
  const byKey = of('oneKey') + Math.min(of('keysOfThese'), of('severalKeys') * shards);
  const statements = of('shard-statements-a-second') * use;
  // The shard with the most to do executes its part of the statements with keys, and all others.
  const clusterRate = add(
    'invoices a second of a cluster',
    statements / (byKey / shards + of('whole') + of('scattered')),
    'shard-statements-a-second × use-percent / ((oneKey + min(keysOfThese, severalKeys × shards-a-cluster)) / shards-a-cluster + whole + scattered)',
  );
  add(
    'limit of a cluster with any number of shards, invoices a second',
    statements / (of('whole') + of('scattered')),
    'shard-statements-a-second × use-percent / (whole + scattered)',
  );
  const clusters = add('clusters', Math.ceil(rate / clusterRate), 'invoices a second / those of a cluster');
  const allShards = add('shards', clusters * shards, 'clusters × shards-a-cluster');
  const nodes = add('MongoDB nodes', allShards * of('replicas'), 'shards × replicas');
  const nodeCores = add('cores of the nodes', nodes * of('node-cores'), 'MongoDB nodes × node-cores');
  const nodeMemory = add('memory of the nodes, GiB', nodes * of('node-memory-gib'), 'MongoDB nodes × node-memory-gib');

  const invoicesADay = of('invoices-an-hour') * busyHours;
  const disk = (of('compressed-percent') / 100) * of('replicas');
  const tibAYear = add(
    'storage of a year, TiB',
    ((invoicesADay * DAYS_A_YEAR * (of('keptKib') + of('pdf-kib'))) / 1024 / MIB_A_TIB) * disk,
    'invoices-an-hour × busy-hours-a-day × 365 × (keptKib + pdf-kib) × compressed-percent × replicas',
  );
  add('storage at the end, TiB', tibAYear * of('retention-years'), 'storage of a year × retention-years');
  add(
    'events a day, GiB',
    ((invoicesADay * of('expiringKib')) / MIB_A_TIB) * disk,
    'invoices-an-hour × busy-hours-a-day × expiringKib × compressed-percent × replicas',
  );

  const hourly = HOURS_A_MONTH / 100;
  const money = [
    add(
      'cores, a month',
      (Math.max(busyCores, otherCores) + nodeCores) * hourly * of('core-hour-cents'),
      '(cores of the service, or of the other PDFs if they are more, + cores of the nodes) × 730 × core-hour-cents / 100',
    ),
    add(
      'memory, a month',
      (memory + nodeMemory) * hourly * of('gib-hour-cents'),
      '(memory of the processes + memory of the nodes) × 730 × gib-hour-cents / 100',
    ),
    add(
      'storage of the first year, a month',
      (tibAYear * of('tib-month-cents')) / 100,
      'storage of a year × tib-month-cents / 100',
    ),
  ];
  add(
    'money, a month',
    money.reduce((sum, each) => sum + each, 0),
    'cores + memory + storage of the first year',
  );
  return results;
}

/** A result of a bench, with the name of its file. */
type Source = WrittenResult & { readonly file: string };

/**
 * The inputs: of each bench the newest result in `folder` that counts, and the assumptions.
 * @param anyRun whether quick and profiled runs count too
 * @throws if a bench has no result that counts, or if their invoices have different numbers of lines
 */
export function readInputs(
  folder: string,
  changed: Readonly<Record<string, string | undefined>>,
  anyRun = false,
): Inputs {
  const sources = new Map<string, Source>();
  for (const [bench] of Object.values(MEASURED))
    sources.set(bench, sources.get(bench) ?? newestOf(folder, bench, anyRun));
  const sourceOf = (bench: string) => sources.get(bench) as Source;
  const lines = new Set([...sources.values()].map(linesOf));
  if (lines.size > 1) throw new Error(`the benches had different invoices: ${[...lines].join(' and ')}`);

  const measured = Object.entries(MEASURED).map(([name, [bench, figure]]) => {
    const source = sourceOf(bench);
    const value = source.figures
      .find((each) => each.name === figure)
      ?.sides.find(({ side }) => side === 'ours')?.median;
    if (value === undefined) throw new Error(`${source.file} has no figure "${figure}": npm run bench ${bench}`);
    return [name, { value, from: `${figure}; ${describe(source)}` }];
  });
  const machine = sourceOf('throughput');
  const machineCores = { value: machine.machine.cores, from: `cores of its machine; ${describe(machine)}` };
  const assumed = Object.entries(ASSUMED).map(([name, [usual, why]]) => {
    const given = changed[name];
    const value = given === undefined ? usual : Number(given);
    if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} takes a number above 0`);
    return [name, { value, from: given === undefined ? `assumed: ${why}` : `given instead of ${usual}: ${why}` }];
  });
  return Object.fromEntries([...measured, ['machineCores', machineCores], ...assumed]) as Inputs;
}

function newestOf(folder: string, bench: string, anyRun: boolean): Source {
  const files = readdirSync(folder).filter((file) => new RegExp(`^${bench}-\\d{8}T\\d{6}Z\\.json$`).test(file));
  const results = files
    .sort()
    .reverse()
    .map((file): Source => ({ ...JSON.parse(readFileSync(join(folder, file), 'utf8')), file }));
  const newest = results.find((result) => anyRun || flawOf(result) === null);
  if (newest !== undefined) return newest;
  const [refused] = results;
  const why = refused ? `${refused.file} ${flawOf(refused)}; --any-run takes it` : 'there is none';
  throw new Error(`no result of the bench ${bench} counts (${why}): npm run bench ${bench}`);
}

/** Why a result does not count, as the end of a sentence; null if it does. */
function flawOf({ quick, profile }: WrittenResult): string | null {
  if (quick) return 'is of a quick run';
  // Earlier results do not say whether they are.
  return profile === false ? null : 'may be of a profiled run';
}

const linesOf = ({ lines }: WrittenResult) => (lines == null ? 'the usual lines' : `${lines} lines`);

function describe(source: Source): string {
  const { file, commit, dirty, repeats, quick, profile, noise } = source;
  return [
    ...[file, `commit ${commit?.slice(0, 7) ?? 'unknown'}`, `${repeats} repeats`, linesOf(source)],
    ...(dirty ? ['uncommitted changes'] : []),
    ...(quick ? ['QUICK'] : []),
    ...(profile ? ['PROFILED'] : []),
    ...(noise.noisy ? ['NOISY'] : []),
  ].join(', ');
}

/** Three digits, or all of a whole number. */
const printed = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));

/** The inputs and the results as text. */
export function formatModel(inputs: Inputs): string {
  const lines = Object.entries(inputs).map(
    ([name, { value, from }]) => `${name.padEnd(26)} ${printed(value)}  (${from})`,
  );
  const results = scaleModel(inputs).map(({ name, value, formula }) => `${name}: ${printed(value)}  = ${formula}`);
  return [...lines, '', ...results, '', ...LIMITS, ''].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const assumptions = Object.fromEntries(Object.keys(ASSUMED).map((name) => [name, { type: 'string' as const }]));
  try {
    const { values } = parseArgs({ options: { ...assumptions, 'any-run': { type: 'boolean', default: false } } });
    const { 'any-run': anyRun, ...changed } = values;
    const folder = fileURLToPath(new URL('../bench-results/', import.meta.url));
    process.stdout.write(
      formatModel(readInputs(folder, changed as Record<string, string | undefined>, anyRun === true)),
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
