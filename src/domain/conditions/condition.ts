import { CONDITION_CODES, type ConditionCode, MOST_COUNTED, MOST_SUBJECTS } from './condition-table.ts';

/** An object that a condition is about. */
export interface Subject {
  readonly id: string;
  /** A number, a host or a name for people; null if it has none yet. */
  readonly name: string | null;
  /** Since when it concerns this object; null if that is not known. */
  readonly since: Date | null;
}

/** Something that is wrong now. */
export interface Condition {
  readonly code: ConditionCode;
  /** Number of objects, up to {@link MOST_COUNTED}; 1 if it is not about objects. */
  readonly count: number;
  /** Whether there are more than `count`. */
  readonly hasMore: boolean;
  /** Since when it concerns the first of them; null if that is not known. */
  readonly since: Date | null;
  /** The first {@link MOST_SUBJECTS} objects. */
  readonly subjects: readonly Subject[];
}

/** Number of objects that are read, to find out whether there are more than are counted. */
export const READ_AT_MOST = MOST_COUNTED + 1;

/** Makes a condition of what was found; none if nothing was. @param found in the order in which they are named */
export function ofSubjects(code: ConditionCode, found: readonly Subject[]): Condition[] {
  if (found.length === 0) return [];
  const counted = found.slice(0, MOST_COUNTED);
  return [
    {
      code,
      count: counted.length,
      hasMore: found.length > counted.length,
      since: earliest(counted.map(({ since }) => since)),
      subjects: counted.slice(0, MOST_SUBJECTS),
    },
  ];
}

/** Makes a condition that is about no objects, if `isSo`. */
export function ofState(code: ConditionCode, isSo: boolean, since: Date | null): Condition[] {
  return isSo ? [{ code, count: 1, hasMore: false, since, subjects: [] }] : [];
}

/** Makes a condition of a number of events. */
export function ofCount(code: ConditionCode, count: number, since: Date | null): Condition[] {
  if (count === 0) return [];
  return [{ code, count: Math.min(count, MOST_COUNTED), hasMore: count > MOST_COUNTED, since, subjects: [] }];
}

/** Sorts conditions as the table has them. */
export function inOrder(conditions: readonly Condition[]): Condition[] {
  return conditions.toSorted((a, b) => CONDITION_CODES.indexOf(a.code) - CONDITION_CODES.indexOf(b.code));
}

function earliest(moments: readonly (Date | null)[]): Date | null {
  return moments.reduce((first, each) => (each !== null && (first === null || each < first) ? each : first), null);
}
