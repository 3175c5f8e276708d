import fc from 'fast-check';

/** A number as a test issues it. */
export interface IssuedNumber {
  readonly serial: number;
  /** The day of its document, `2026-11-30`; null if it has none. */
  readonly day: string | null;
  /** Whether the document waited for a correction, so that its day may be earlier than those before it. */
  readonly isLate: boolean;
}

const MONTHS = Array.from({ length: 12 }, (_, n) => `2026-${String(n + 1).padStart(2, '0')}`);

/** Series of one year with up to 40 numbers in each of some months, of which some are late and some have no document. */
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

/** The serials of each month with some: a number is in the latest month that its series had reached. */
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
