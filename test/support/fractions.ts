/** A rational number, not necessarily in lowest terms. Its denominator is positive. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

/** Parses a decimal number of JSON: `1.25` is 125/100. */
export function fraction(decimal: number | string): Fraction {
  const [whole = '', decimals = ''] = String(decimal).split('.');
  return { over: BigInt(whole + decimals), under: 10n ** BigInt(decimals.length) };
}

export function times(a: Fraction, b: Fraction): Fraction {
  return { over: a.over * b.over, under: a.under * b.under };
}

export function equal(a: Fraction, b: Fraction): boolean {
  return a.over * b.under === b.over * a.under;
}

export function per(over: number | bigint, under: number | bigint): Fraction {
  return { over: BigInt(over), under: BigInt(under) };
}

/** Rounds a number to the nearest integer, halves up: -0.5 is 0. */
export function nearest({ over, under }: Fraction): bigint {
  const whole = over / under;
  const lower = whole * under > over ? whole - 1n : whole;
  return 2n * (over - lower * under) >= under ? lower + 1n : lower;
}
