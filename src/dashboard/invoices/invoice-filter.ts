import type { InvoicesVariables } from './documents.ts';

export const STATUSES = ['pending', 'signing', 'transmitted', 'accepted', 'rejected'] as const;
const PAGE = 25;

/** What a page of the list shows. The address of the page keeps it. */
export interface Filter {
  readonly status: (typeof STATUSES)[number] | null;
  /** The first and the last day of creation, in Morocco: `YYYY-MM-DD`. */
  readonly from: string | null;
  readonly until: string | null;
  /** The page begins after this invoice, or ends before that one. */
  readonly after: string | null;
  readonly before: string | null;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The filter in the query of an address. What is none is left out. */
export function filterOf(query: Readonly<Record<string, string>>): Filter {
  const day = (text: string | undefined) => (text && DAY.test(text) && startOf(text) ? text : null);
  const after = query.after ?? null;
  return {
    status: STATUSES.find((each) => each === query.status) ?? null,
    ...{ from: day(query.from), until: day(query.until) },
    ...{ after, before: after === null ? (query.before ?? null) : null },
  };
}

/** `?status=rejected&after=inv_…`, or nothing. */
export function searchOf(filter: Filter): string {
  const set = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== null);
  return set.length === 0 ? '' : `?${new URLSearchParams(set)}`;
}

export function variablesOf({ status, from, until, after, before }: Filter): InvoicesVariables {
  const [start, end] = [from && startOf(from), until && startOf(until, 1)];
  return {
    ...(status && { status }),
    // The bounds are excluded.
    ...(start && { createdAfter: new Date(start.getTime() - 1).toISOString() }),
    ...(end && { createdBefore: end.toISOString() }),
    ...(before === null ? { first: PAGE, after } : { last: PAGE, before }),
  };
}

/** The instant at which a day begins in Morocco. @returns null for a day that does not exist */
function startOf(day: string, later = 0): Date | null {
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null;
  midnight.setUTCDate(midnight.getUTCDate() + later);
  const parts = new Intl.DateTimeFormat('en', { timeZone: 'Africa/Casablanca', timeZoneName: 'longOffset' });
  const name = parts.formatToParts(midnight).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return new Date(midnight.getTime() - offset * 60_000);
}
