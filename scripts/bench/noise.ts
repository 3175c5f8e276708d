import { relativeSpread } from './statistics.ts';

/** Above these the machine did something else besides, and the figures are not to be believed. */
export const NOISE_LIMITS = {
  /** Of a fixed piece of computing done before each repeat: its 10th to 90th percentile, relative to its median. */
  calibration: 0.1,
  /** Of a peer's repeats: their middle half, relative to their median. */
  peer: 0.15,
  /** Of the ratios of ours to a peer, repeat by repeat: their middle half, relative to their median. */
  ratio: 0.25,
};

/** Whether a run is to be believed, and every reason why not. */
export interface NoiseVerdict {
  noisy: boolean;
  reasons: string[];
}

/** Repeats of something that ought to vary with nothing but the machine: a peer's figure, or a ratio to it. */
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

/** Time in milliseconds that a fixed piece of computing takes now (some 10 ms); it touches next to no memory. */
export function spin(): number {
  const start = performance.now();
  let state = 1;
  for (let i = 0; i < 6_000_000; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  const elapsed = performance.now() - start;
  if (state === 0) throw new Error('xorshift never reaches 0'); // keeps the loop from being optimized away
  return elapsed;
}

/** A share as per cent, without decimals. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
