import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { judgeNoise, type NoiseVerdict, type SteadySeries, spin } from './noise.ts';
import { quantile, type Summary, summarize } from './statistics.ts';

/** A benchmark. Each module `scripts/bench/<name>.bench.ts` exports one as `benchmark`. */
export interface Benchmark {
  /** The file name without `.bench.ts`. */
  name: string;
  /** One line that says what is measured. */
  about: string;
  /** Ours first, then its peers. Without a peer there are figures but no ratios. */
  sides: readonly [Side, ...Side[]];
  /** `equal`: in each repeat all sides must return the same answer, byte for byte. `incomparable`: they return none. */
  answers: 'equal' | 'incomparable';
  /** Default 10. */
  repeats?: number;
  /** Rounds that run before the measurement. Default 2. */
  warmups?: number;
}

/** One side of a comparison. All sides are opened before the first round and closed after the last. */
export interface Side {
  name: string;
  open?(settings: Settings): Promise<void> | void;
  /** Runs one repeat. */
  run(settings: Settings): Promise<Measured> | Measured;
  /** Also called if `open` failed. */
  close?(): Promise<void> | void;
}

/** Settings of the run. With `quick`, a side should do the minimum that still gives a result. */
export interface Settings {
  quick: boolean;
  /** Lines of each invoice, where a benchmark creates invoices of its own. */
  lines: number;
  /** Stored invoices of a benchmark of growth. */
  most: number;
  /** Folder for CPU profiles of all threads of our side; null: none. */
  profileFolder: string | null;
}

/** The settings of a run without options. */
const USUAL: Settings = { quick: false, lines: 5, most: 1_000_000, profileFolder: null };

/** The settings of a run that a caller may change. */
export interface RunOptions extends Partial<Settings> {
  /** Instead of the benchmark's own number. */
  repeats?: number;
  /** Replaces this machine in tests. */
  machine?: Machine;
}

/** The result of one repeat. Every repeat of every side must measure the same quantities. */
export interface Measured {
  /** Throughput: the number of operations, divided by `seconds` or, without it, by the duration of `run`. */
  operations?: number;
  seconds?: number;
  /** Throughput of several kinds of work in one repeat, in operations per second. */
  rates?: Record<string, number>;
  /** Latency: samples in milliseconds by name. Each name gives a p50 and a p99. */
  latencies?: Record<string, readonly number[]>;
  /** Costs other than time (round trips, bytes). Lower is better. */
  counts?: Record<string, number>;
  answer?: string | Uint8Array;
}

export type Unit = 'ops/s' | 'ms' | 'count';

/** One measured quantity for all sides. */
export interface Figure {
  name: string;
  unit: Unit;
  better: 'higher' | 'lower';
  sides: (Summary & { side: string; values: number[] })[];
  /** How many times better ours was than each peer, for each repeat; below 1 it was worse. */
  ratios: (Summary & { peer: string; values: number[] })[];
}

/** The complete result of a run. */
export interface Outcome {
  name: string;
  about: string;
  repeats: number;
  warmups: number;
  quick: boolean;
  answers: 'equal' | 'incomparable';
  figures: Figure[];
  noise: NoiseVerdict & { calibrationMs: number[] };
}

/** The functions of the machine that a run uses besides its sides. */
export interface Machine {
  /** Frees the garbage of the previous side, so that the next one does not pay for its collection. */
  collectGarbage(): void;
  /** Times a fixed computation, in milliseconds. */
  calibrate(): number;
}

/** The answers of two sides differ although the benchmark requires equal answers. */
export class AnswersDiffer extends Error {}

/**
 * Runs ours and its peers alternately: each round runs every side once, and the order rotates each round, so that
 * neither other work on the machine nor the position in the order favours a side. `calibrate` times a fixed computation
 * (milliseconds) before each repeat.
 * @throws AnswersDiffer, and any error of a side; the sides are closed in any case.
 */
export async function runBenchmark(
  benchmark: Benchmark,
  { repeats, machine = THIS_MACHINE, ...given }: RunOptions = {},
): Promise<Outcome> {
  const settings: Settings = { ...USUAL, ...given };
  const { quick, profileFolder } = settings;
  const { name, about, answers } = benchmark;
  // Profiles say what ours does, and cost it time, so that a comparison would mislead.
  const sides = profileFolder === null ? benchmark.sides : benchmark.sides.slice(0, 1);
  const rounds = repeats ?? (profileFolder !== null ? 1 : quick ? 3 : (benchmark.repeats ?? 10));
  const warmups = quick ? 1 : (benchmark.warmups ?? 2);
  const measured = new Map(sides.map((side) => [side, [] as Quantities[]]));
  const calibrationMs: number[] = [];
  const opened: Side[] = [];
  try {
    for (const side of sides) {
      opened.push(side);
      await side.open?.(settings);
    }
    for (let i = 0; i < 5; i++) machine.calibrate();
    for (let round = -warmups; round < rounds; round++) {
      const given: { side: Side; answer: Measured['answer'] }[] = [];
      for (const side of turn(sides, round + warmups)) {
        machine.collectGarbage();
        const calibration = machine.calibrate();
        const start = performance.now();
        const result = await side.run(settings);
        const seconds = result.seconds ?? (performance.now() - start) / 1000;
        given.push({ side, answer: result.answer });
        if (round < 0) continue;
        calibrationMs.push(calibration);
        measured.get(side)?.push(toFigures(result, seconds, side));
      }
      if (answers === 'equal') compareAnswers(given);
    }
  } catch (error) {
    await Promise.allSettled(closeAll(opened));
    throw error;
  }
  await Promise.all(closeAll(opened));
  const figures = combine(sides, measured);
  const steady = figures.filter(({ name: figure }) => !figure.endsWith(' p99')).flatMap(steadySeries);
  const noise = { ...judgeNoise(calibrationMs, steady), calibrationMs };
  return { name, about, repeats: rounds, warmups, quick, answers, figures, noise };
}

const closeAll = (sides: readonly Side[]): Promise<void>[] => sides.map(async (side) => side.close?.());

/** Returns the list rotated by `by` positions. */
function turn<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

/** Quantities by name. */
type Quantities = Map<string, { value: number; unit: Unit }>;

function toFigures(result: Measured, seconds: number, side: Side): Quantities {
  const figures: Quantities = new Map();
  if (result.operations !== undefined) figures.set('throughput', { value: result.operations / seconds, unit: 'ops/s' });
  for (const [of, value] of Object.entries(result.rates ?? {})) figures.set(of, { value, unit: 'ops/s' });
  for (const [of, samples] of Object.entries(result.latencies ?? {})) {
    figures.set(`${of} p50`, { value: quantile(samples, 0.5), unit: 'ms' });
    figures.set(`${of} p99`, { value: quantile(samples, 0.99), unit: 'ms' });
  }
  for (const [of, value] of Object.entries(result.counts ?? {})) figures.set(of, { value, unit: 'count' });
  if (figures.size === 0) throw new Error(`${side.name} measured nothing`);
  return figures;
}

function combine(sides: readonly Side[], measured: ReadonlyMap<Side, Quantities[]>): Figure[] {
  const repeats = sides.map((side) => ({ side, figures: measured.get(side) ?? [] }));
  const quantities = [...(repeats[0]?.figures[0]?.entries() ?? [])];
  return quantities.map(([name, { unit }]) => {
    const better = unit === 'ops/s' ? 'higher' : 'lower';
    const summaries = repeats.map(({ side, figures }) => {
      const values = figures.map((figure) => figure.get(name)?.value ?? Number.NaN);
      if (values.some(Number.isNaN)) throw new Error(`${side.name} did not measure ${name} in every repeat`);
      return { side: side.name, values, ...summarize(values) };
    });
    const ours = summaries[0]?.values ?? [];
    const ratios = summaries.slice(1).map(({ side, values: theirs }) => {
      const values = ours.map((own, i) => (better === 'higher' ? own / (theirs[i] ?? 0) : (theirs[i] ?? 0) / own));
      return { peer: side, values, ...summarize(values) };
    });
    return { name, unit, better, sides: summaries, ratios };
  });
}

/** Returns the values of a figure that should vary only with the machine. Without a peer these are our own. */
function steadySeries({ name, sides, ratios }: Figure): SteadySeries[] {
  const peers = sides.length > 1 ? sides.slice(1) : sides;
  return [
    ...peers.map(({ side, values }) => ({ kind: 'peer' as const, label: `${side}, ${name},`, values })),
    ...ratios.map(({ peer, values }) => ({ kind: 'ratio' as const, label: `ours to ${peer}, ${name},`, values })),
  ];
}

function compareAnswers(given: readonly { side: Side; answer: Measured['answer'] }[]): void {
  const [first, ...others] = given.map(({ side, answer }) => {
    if (answer === undefined) throw new AnswersDiffer(`${side.name} gave no answer to compare`);
    return { name: side.name, bytes: Buffer.from(answer) };
  });
  if (!first) return;
  for (const other of others) {
    if (first.bytes.equals(other.bytes)) continue;
    let at = 0;
    while (first.bytes[at] === other.bytes[at]) at++;
    const near = ({ name, bytes }: typeof first): string =>
      `${name}: ${JSON.stringify(bytes.subarray(Math.max(0, at - 20), at + 40).toString())}`;
    throw new AnswersDiffer(`answers differ from byte ${at} on: ${near(first)}, ${near(other)}`);
  }
}

const THIS_MACHINE: Machine = { collectGarbage, calibrate: spin };

let gc: (() => void) | undefined;

function collectGarbage(): void {
  if (!gc) {
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('gc') as () => void;
  }
  gc();
}
