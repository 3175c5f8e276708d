interface KindRow {
  /** The prefix of ids. */
  readonly idPrefix: string;
  /** What precedes the year in the name of a series of numbers: `AV-2026-000123`. */
  readonly seriesPrefix: string;
}

/**
 * The kinds of fiscal documents. All kinds are the same record and pass through the same stages; what differs is in
 * this table.
 */
export const KINDS = {
  invoice: { idPrefix: 'inv', seriesPrefix: '' },
  credit_note: { idPrefix: 'crn', seriesPrefix: 'AV-' },
} as const satisfies Readonly<Record<string, KindRow>>;

export type Kind = keyof typeof KINDS;
