import type { Authority, LedgerEntry } from './ports.ts';

/** Maximum number of entries in one call. */
const PAGE = 1000;
/**
 * After a page that could not be read, the next call requests this fraction of it: a thousand long lists of problems
 * exceed the maximum size of an answer. Each page that was read doubles the next one.
 */
const SMALLER = 1 / 10;
/** How often a call is repeated before the ledger counts as unreadable. */
const ATTEMPTS = 4;
/** Limits of the pause before a call is repeated, milliseconds. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1000, 60_000];
/** Maximum number of consecutive pages without an entry, before the end. */
const MOST_EMPTY = 100;
const MAX_TEXT = 200;
const MAX_CURSOR = 4096;

/** The ledger cannot be read further. The message says why; what was read before is valid. */
export class LedgerUnreadable extends Error {
  override readonly name = 'LedgerUnreadable';
}

export interface LedgerPage {
  /** At most {@link PAGE}, the last one of each submission. */
  readonly entries: readonly LedgerEntry[];
  /** Number of entries before repeated ones were removed. */
  readonly read: number;
  /** Where the next page begins. */
  readonly cursor: string;
}

/**
 * Reads the ledger from a cursor to its end, a page at a time, with one page in memory. Ends for any sequence of
 * answers: a ledger whose cursors repeat, or whose pages exceed the limit, is refused.
 * @param after null: from the start
 * @param pause waits for this many milliseconds
 * @throws {LedgerUnreadable}
 */
export async function* readLedger(
  authority: Pick<Authority, 'changes'>,
  after: string | null,
  pause: (ms: number) => Promise<void>,
): AsyncGenerator<LedgerPage, void> {
  const isCircle = circleDetector();
  let empty = 0;
  let limit = PAGE;
  for (let cursor = after; ; ) {
    const page = await pageAfter(authority, cursor, limit, pause);
    const { entries, nextCursor, highWaterMark } = page.answer;
    if (entries.length > page.limit)
      throw new LedgerUnreadable(`a page has ${entries.length} entries, although ${page.limit} were asked for`);
    limit = Math.min(2 * page.limit, PAGE);
    if (nextCursor.length > MAX_CURSOR) throw new LedgerUnreadable('a cursor is too long');
    const odd = entries.find((entry) => !isPlausible(entry));
    if (odd) throw new LedgerUnreadable(`the entry ${JSON.stringify(odd.submissionId.slice(0, 50))} is malformed`);
    const isLast = nextCursor === highWaterMark;
    empty = entries.length === 0 ? empty + 1 : 0;
    if (!isLast && (nextCursor === cursor || isCircle(nextCursor) || empty > MOST_EMPTY))
      throw new LedgerUnreadable('the cursor does not advance');
    const latest = new Map(entries.map((entry) => [entry.submissionId, entry]));
    yield { entries: [...latest.values()], read: entries.length, cursor: nextCursor };
    if (isLast) return;
    cursor = nextCursor;
  }
}

async function pageAfter(
  authority: Pick<Authority, 'changes'>,
  cursor: string | null,
  most: number,
  pause: (ms: number) => Promise<void>,
) {
  let limit = most;
  for (let attempt = 1; ; attempt++) {
    const answer = await authority.changes(cursor, limit);
    if (answer.kind === 'changes') return { answer, limit };
    limit = Math.max(1, Math.floor(limit * SMALLER));
    if (attempt === ATTEMPTS) throw new LedgerUnreadable(answer.message);
    const wait = answer.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1);
    await pause(Math.min(wait, LONGEST_PAUSE_MS));
  }
}

/** Whether an entry can be stored and shown. The texts come from outside. */
function isPlausible({ submissionId, sha256, decision }: LedgerEntry): boolean {
  const isShort = (text: string) => text.length > 0 && text.length <= MAX_TEXT;
  return (
    isShort(submissionId) &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    !Number.isNaN(decision.decidedAt.getTime()) &&
    (decision.outcome === 'rejected' || isShort(decision.dgiId))
  );
}

/** Detects whether a sequence has entered a cycle, with one value in memory (Brent's algorithm). */
function circleDetector(): (value: string) => boolean {
  let [kept, steps, span]: [string | null, number, number] = [null, 0, 1];
  return (value) => {
    if (value === kept) return true;
    steps += 1;
    if (steps === span) [kept, steps, span] = [value, 0, span * 2];
    return false;
  };
}
