const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `250ms`, `2s`, `10m`, `-10m`, `3h`, `20d` or a number of milliseconds; NaN if the text is none of these. */
export function milliseconds(text: string): number {
  const [, amount, unit = 'ms'] = /^(-?\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim()) ?? [];
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
