import fc from 'fast-check';

/** A number that a test issues. */
export interface IssuedNumber {
  readonly serial: number;
  /** The day of its document, `2026-11-30`; null if it has none. */
  readonly day: string | null;
  /** Whether the document waited for a correction, so that its day may be earlier than those of previous numbers. */
  readonly isLate: boolean;
}

const MONTHS = Array.from({ length: 12 }, (_, n) => `2026-${String(n + 1).padStart(2, '0')}`);

/**
 * Makes a series of one year with up to 40 numbers in some months. Some numbers are late, and some have no document.
 */
export const SERIES_OF_MONTHS: fc.Arbitrary<readonly IssuedNumber[]> = fc
  .record({
    counts: fc.array(fc.nat({ max: 40 }), { minLength: 2, maxLength: 5 }),
    late: fc.dictionary(fc.nat({ max: 200 }).map(String), fc.nat({ max: 4 }), { maxKeys: 30 }),
    missing: fc.uniqueArray(fc.nat({ max: 200 }), { maxLength: 8 }),
  })
  .map(({ counts, late, missing }) =>
    counts
      .flatMap((count, nth) => Array.from({ length: count }, () => nth))
      .map((month, index) => {
        const serial = index + 1;
        const earlier = late[serial];
        const day = `${MONTHS[Math.max(0, month - (earlier ?? 0))]}-15`;
        return { serial, day: missing.includes(serial) ? null : day, isLate: earlier !== undefined };
      }),
  );

/** Returns the serials of each month that has any. A number belongs to the latest month that its series had reached. */
export function monthsOf(issued: readonly IssuedNumber[]): Readonly<Record<string, readonly number[]>> {
  let reached = issued.find(({ day }) => day !== null)?.day?.slice(0, 7) ?? '';
  const months: Record<string, number[]> = {};
  for (const { serial, day } of issued) {
    const month = day?.slice(0, 7) ?? reached;
    if (month > reached) reached = month;
    months[reached] = [...(months[reached] ?? []), serial];
  }
  return months;
}
