/** Summary of the values of all repeats. */
export interface Summary {
  min: number;
  median: number;
  max: number;
  /** Interquartile range relative to the median: 0.1 means that the middle half spans 10 % of the median. */
  spread: number;
}

/**
 * Computes the `q`-quantile (0 to 1) of the values, with linear interpolation.
 * @throws RangeError without values, or if one is not a finite number.
 */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new RangeError('no values');
  const sorted = values.toSorted((a, b) => a - b);
  if (!values.every(Number.isFinite)) throw new RangeError(`not all finite: ${values.join(', ')}`);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] as number;
  const high = sorted[Math.ceil(at)] as number;
  return low + (high - low) * (at % 1);
}

/** Computes the distance between two quantiles relative to the median (infinite if only the median is 0). */
export function relativeSpread(values: readonly number[], from: number, to: number): number {
  const distance = quantile(values, to) - quantile(values, from);
  return distance === 0 ? 0 : distance / Math.abs(quantile(values, 0.5));
}

/** @throws RangeError without values, or if one is not a finite number. */
export function summarize(values: readonly number[]): Summary {
  return {
    min: quantile(values, 0),
    median: quantile(values, 0.5),
    max: quantile(values, 1),
    spread: relativeSpread(values, 0.25, 0.75),
  };
}

/** With three digits; whole from 1,000 on. */
export function formatNumber(value: number): string {
  return Math.abs(value) >= 1000 ? Math.round(value).toString() : Number(value.toPrecision(3)).toString();
}
