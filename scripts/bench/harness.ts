import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { judgeNoise, type NoiseVerdict, type SteadySeries, spin } from './noise.ts';
import { quantile, type Summary, summarize } from './statistics.ts';

/** A benchmark: a module `scripts/bench/<name>.bench.ts` exports one as `benchmark`. */
export interface Benchmark {
  /** The file's name without `.bench.ts`. */
  name: string;
  /** What is measured, in one line. */
  about: string;
  /** Ours first, then its peers; with no peer there are figures but no ratios. */
  sides: readonly [Side, ...Side[]];
  /** `equal`: in each repeat all sides must give the same answer, byte for byte. `incomparable`: they give none. */
  answers: 'equal' | 'incomparable';
  /** Default 10. */
  repeats?: number;
  /** Rounds that are run and not counted. Default 2. */
  warmups?: number;
}

/** One contestant. All sides are opened before the first round and closed after the last. */
export interface Side {
  name: string;
  open?(settings: Settings): Promise<void> | void;
  /** One repeat. */
  run(settings: Settings): Promise<Measured> | Measured;
  /** Called also where `open` failed half-way. */
  close?(): Promise<void> | void;
}

/** How the run was asked for; with `quick` a side should do as little as still shows something. */
export interface Settings {
  quick: boolean;
}

/** What a repeat came to. Every repeat of every side must measure the same things. */
export interface Measured {
  /** Throughput: operations done. They are counted against the time of `run`, or `seconds` where that is more exact. */
  operations?: number;
  seconds?: number;
  /** Throughputs of several kinds of work in one repeat, operations a second. */
  rates?: Record<string, number>;
  /** Latency: samples in milliseconds, by what they are of; each becomes a p50 and a p99. */
  latencies?: Record<string, readonly number[]>;
  /** What the work cost in anything but time (round trips, bytes); fewer are better. */
  counts?: Record<string, number>;
  answer?: string | Uint8Array;
}

export type Unit = 'ops/s' | 'ms' | 'count';

/** One measured quantity over all sides. */
export interface Figure {
  name: string;
  unit: Unit;
  better: 'higher' | 'lower';
  sides: (Summary & { side: string; values: number[] })[];
  /** How many times better ours was than each peer, repeat by repeat; below 1 it was worse. */
  ratios: (Summary & { peer: string; values: number[] })[];
}

/** All that a run found. */
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

/** Two sides' answers are not the same where the benchmark says that they must be. */
export class AnswersDiffer extends Error {}

/**
 * Runs ours and its peers in alternation: each round runs every side once, and a round later the order is turned, so that
 * neither what the machine does meanwhile nor the place in the order favours one. `calibrate` times a fixed piece of
 * computing (milliseconds) before each repeat.
 * @throws AnswersDiffer, and whatever a side throws; the sides are closed in any case.
 */
export async function runBenchmark(
  benchmark: Benchmark,
  { quick = false, repeats, calibrate = spin }: { quick?: boolean; repeats?: number; calibrate?: () => number } = {},
): Promise<Outcome> {
  const { name, about, sides, answers } = benchmark;
  const rounds = repeats ?? (quick ? 3 : (benchmark.repeats ?? 10));
  const warmups = quick ? 1 : (benchmark.warmups ?? 2);
  const settings: Settings = { quick };
  const measured = new Map(sides.map((side) => [side, [] as Quantities[]]));
  const calibrationMs: number[] = [];
  const opened: Side[] = [];
  try {
    for (const side of sides) {
      opened.push(side);
      await side.open?.(settings);
    }
    for (let i = 0; i < 5; i++) calibrate();
    for (let round = -warmups; round < rounds; round++) {
      const given: { side: Side; answer: Measured['answer'] }[] = [];
      for (const side of turn(sides, round + warmups)) {
        collectGarbage();
        const calibration = calibrate();
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

/** The list begun `by` places further on. */
function turn<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

/** By name. */
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

/** What of a figure should vary with nothing but the machine. Without a peer that can only be ours. */
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

let gc: (() => void) | undefined;

/** Frees what the side before has left, so that the next one does not pay for it. */
function collectGarbage(): void {
  if (!gc) {
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('gc') as () => void;
  }
  gc();
}
