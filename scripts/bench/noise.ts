import { relativeSpread } from './statistics.ts';

/** Above these limits other work disturbed the run, and its figures are not reliable. */
const NOISE_LIMITS = {
  /** Calibration: 10th to 90th percentile of a fixed computation before each repeat, relative to its median. */
  calibration: 0.1,
  /** Repeats of a peer: interquartile range relative to the median. */
  peer: 0.15,
  /** Ratios of ours to a peer in each repeat: interquartile range relative to the median. */
  ratio: 0.25,
};

/** Whether a run was disturbed, and every reason. */
export interface NoiseVerdict {
  noisy: boolean;
  reasons: string[];
}

/** Repeats of a quantity that should vary only with the machine: a figure of a peer, or a ratio to it. */
export interface SteadySeries {
  kind: 'peer' | 'ratio';
  label: string;
  values: readonly number[];
}

/** Judges a run by its calibration times (milliseconds), the repeats of its peers and the ratios to them. */
export function judgeNoise(calibration: readonly number[], series: readonly SteadySeries[]): NoiseVerdict {
  const spin = relativeSpread(calibration, 0.1, 0.9);
  const reasons = spin > NOISE_LIMITS.calibration ? [`the calibration loop's time varies by ${percent(spin)}`] : [];
  for (const { kind, label, values } of series) {
    const spread = relativeSpread(values, 0.25, 0.75);
    if (spread > NOISE_LIMITS[kind]) reasons.push(`${label} varies by ${percent(spread)}`);
  }
  return { noisy: reasons.length > 0, reasons };
}

/** Returns the milliseconds that a fixed computation takes now (about 10 ms). It uses almost no memory. */
export function spin(): number {
  const start = performance.now();
  let state = 1;
  for (let i = 0; i < 6_000_000; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  const elapsed = performance.now() - start;
  if (state === 0) throw new Error('xorshift never reaches 0'); // prevents the loop from being optimized away
  return elapsed;
}

/** Writes a fraction as a percentage without decimals. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
