import { amountsOf, type Figures } from '../periods/period-figures.ts';
import type { Amounts } from './documents.ts';

/** The figures that are compared with the last look. */
export const COMPARED = ['invoiced', 'credited', 'open', 'rejected'] as const;
export type Compared = Readonly<Record<(typeof COMPARED)[number], Pick<Figures, 'count' | 'total'>>>;

/** The figures that a person saw at an instant, by month: `2026-11`. */
interface Seen {
  /** ISO 8601. */
  readonly at: string;
  readonly months: Readonly<Record<string, Compared>>;
}

/** Reloads within this time belong to one look, milliseconds. */
const ONE_LOOK_MS = 30 * 60_000;

/** Keeps in the browser the figures of a workspace that a person saw. @param key of the person and the workspace */
export function lastLook(key: string, now: Date) {
  const kept = read(key);
  const isNewLook = kept !== null && now.getTime() - Date.parse(kept.latest.at) > ONE_LOOK_MS;
  const base = isNewLook ? kept.latest : (kept?.base ?? null);
  return {
    /** Returns the figures at the end of the previous look; null if there was none in these months. */
    seenBefore: (months: readonly string[]): Seen | null =>
      base && Object.keys(base.months).some((month) => months.includes(month)) ? base : null,
    /** Keeps the figures that are shown now. */
    see: (months: Seen['months'], at: Date) => write(key, { base, latest: { at: at.toISOString(), months } }),
  };
}

/** Returns the figures that are compared. Rejected and open documents are those of invoices and credit notes. */
export function comparedOf(days: Amounts['month']): Compared {
  const { invoiced, credited, open, openCount, rejectedInvoices, rejectedCreditNotes } = amountsOf(days);
  return {
    invoiced: { count: invoiced.count, total: invoiced.total },
    credited: { count: credited.count, total: credited.total },
    open: { count: openCount, total: open.total },
    rejected: {
      count: rejectedInvoices.count + rejectedCreditNotes.count,
      total: rejectedInvoices.total - rejectedCreditNotes.total,
    },
  };
}

/** Returns what was added since then. A month without seen figures counts as new. */
export function changesSince(months: Seen['months'], then: Seen['months']): Compared {
  const change = (name: keyof Compared) =>
    Object.entries(months).reduce(
      (sum, [month, now]) => ({
        count: sum.count + now[name].count - (then[month]?.[name].count ?? 0),
        total: sum.total + now[name].total - (then[month]?.[name].total ?? 0n),
      }),
      { count: 0, total: 0n },
    );
  return {
    invoiced: change('invoiced'),
    credited: change('credited'),
    open: change('open'),
    rejected: change('rejected'),
  };
}

interface Kept {
  readonly base: Seen | null;
  readonly latest: Seen;
}

function read(key: string): Kept | null {
  try {
    const text = localStorage.getItem(key);
    if (text === null) return null;
    const kept: Kept = JSON.parse(text, (name, value) => (name === 'total' ? BigInt(value) : value));
    return typeof kept.latest.at === 'string' ? kept : null;
  } catch {
    return null; // The browser stores nothing for this page, or something else.
  }
}

function write(key: string, kept: Kept): void {
  try {
    const plain = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
    localStorage.setItem(key, JSON.stringify(kept, plain));
  } catch {
    // The browser stores nothing for this page.
  }
}
