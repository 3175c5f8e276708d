import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db, Filter } from 'mongodb';
import { serviceError } from '../domain/errors.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { writeErrorsOf } from './write-errors.ts';

/** The last turn at a list. It is over when its last row is stored. */
interface HeadDocument {
  /** The list, e.g. `invoices ten_1 test`. */
  _id: string;
  turn: string;
  /** The highest order key that was given in the list, that of `last`. */
  top: string;
  /** The id of the last row of the turn. */
  last: string;
  /** Whether that row will never be stored with this key. */
  ended: boolean;
  /** When it began, by the store's clock: for the expiry alone. */
  at: Date;
  /** A process that lost several turns, and is to be let go first. */
  waiting?: string | null;
}

/** What a turn will write: the highest order key and its row, which is written last. */
export type TurnPlan = Pick<HeadDocument, 'top' | 'last'>;

/** @param top the highest order key of the list; empty if nothing was written for a day, or ever */
export type PlanTurn = (top: string) => TurnPlan;

export interface ListTurn {
  /** Whether there is time to begin a write. After that, others may have taken the next turn. */
  canBegin(): boolean;
  /**
   * To be called when the outcome of all writes is known, and not when a write failed that may still be done.
   * @param stored whether the last row was stored as planned
   */
  end(stored: boolean): void;
}

/**
 * Turns at lists, so that rows appear in the order of their keys whichever process writes them (docs/decisions/0022):
 * the keys of a turn are higher than those of every turn before, and a turn begins when the rows of the turn before are
 * stored. One document for each list says who had the last turn. The process that had it takes the next one with one
 * command; another one first looks whether the last row is there.
 */
export interface ListTurns {
  /**
   * Takes turns at lists without waiting: with one command where this process had the last turn, with up to four for all
   * where others may have had it.
   * @returns the turns that it got, by list; those that are missing are for {@link take}
   */
  takeMany(plans: ReadonlyMap<string, PlanTurn>): Promise<Map<string, ListTurn>>;
  /**
   * Takes a turn at a list, after that of another process.
   * @throws {ServiceError} internal_error (503) if others have it for too long
   */
  take(list: string, plan: PlanTurn): Promise<ListTurn>;
}

/** How long a process may take from the begin of its turn to the last write, milliseconds. */
const BEGIN_MS = 2000;
/**
 * When a turn that does not end is over, because its process died, milliseconds. By what the process that waits has seen
 * itself: clocks of two processes may differ by any time.
 */
const DEAD_MS = 5000;
/** How long a process waits for its turn at most, milliseconds. */
const PATIENCE_MS = 15_000;
/** Pause between two looks at a turn of another process, from the first to the longest, milliseconds. */
const PAUSE_MS = { first: 3, longest: 50 } as const;
/** How long a process looks for turns of others before it takes its own, after it has met one, milliseconds. */
const SHARED_MS = 30_000;
/** How often a process loses its turn to others before it asks them to let it go first. */
const LOSSES = 2;
/** How long a process that asked is let go first, from when it was seen, milliseconds. */
const YIELD_MS = 1000;
/** Maximum number of lists of which this process remembers its last turn. */
const REMEMBERED = 10_000;
/** How long the document of a list is kept after its last turn, seconds: keys of a day ago are lower than new ones. */
export const HEADS_SECONDS = 86_400;

/** What this process knows of a list. */
interface Known {
  /** Its last turn, if nothing of it is under way and no other one was seen since. */
  readonly own: Pick<HeadDocument, 'turn' | 'top'> | null;
  /** Until when it looks before it takes a turn, monotonic milliseconds. */
  readonly sharedUntil: number;
  /** The turn of another process that was not over, and when it was first seen, monotonic milliseconds. */
  readonly seen: { readonly turn: string; readonly since: number } | null;
  /** The process that was seen to wait, and when it was first seen, monotonic milliseconds. */
  readonly asked: { readonly waiting: string; readonly since: number } | null;
}

const UNKNOWN: Known = { own: null, sharedUntil: 0, seen: null, asked: null };

const $currentDate = { at: true } as const;

/** The head that a process wants to write, after the one that it knows; null: there is none. */
interface Wanted {
  readonly list: string;
  readonly before: string | null;
  /** Who was seen to wait; null: nobody. */
  readonly waiting: string | null;
  readonly head: Omit<HeadDocument, 'at'>;
}

/** @param rows the collection of the lists' rows */
export function createListTurns<Row extends { _id: string; order: string }>(db: Db, rows: Collection<Row>): ListTurns {
  const heads = db.collection<HeadDocument>('list_heads');
  const known = new Map<string, Known>();
  /** What this process writes where it waits. */
  const self = randomUUID();

  function know(list: string, news: Partial<Known>): void {
    const before = known.get(list) ?? UNKNOWN;
    known.delete(list);
    if (known.size >= REMEMBERED) known.clear();
    known.set(list, { ...before, ...news });
  }

  const headId = (list: string) => `${rows.collectionName} ${list}`;

  function want(list: string, plan: PlanTurn, before: Pick<HeadDocument, 'turn' | 'top' | 'waiting'> | null): Wanted {
    const head = { _id: headId(list), turn: randomUUID(), ...plan(before?.top ?? ''), ended: false };
    return { list, before: before?.turn ?? null, waiting: before?.waiting ?? null, head };
  }

  /** Looks at lists at which others may have had the last turn. @returns what can be taken now */
  async function look(plans: ReadonlyMap<string, PlanTurn>): Promise<Wanted[]> {
    const found = await heads.find({ _id: { $in: [...plans.keys()].map(headId) } }).toArray();
    const present = new Map(found.map((head) => [head._id, head]));
    const filter = { _id: { $in: found.map(({ last }) => last) } } as Filter<Row>;
    const last =
      found.length === 0 ? [] : await rows.find(filter).project<{ _id: string; order: string }>({ order: 1 }).toArray();
    const orders = new Map(last.map(({ _id, order }) => [_id, order]));
    return [...plans].flatMap(([list, plan]) => {
      const head = present.get(headId(list)) ?? null;
      const isFree = head === null || orders.get(head.last) === head.top || isDead(list, head);
      return isFree && !isAsked(list, head?.waiting) ? [want(list, plan, head)] : [];
    });
  }

  /** Whether another process is to be let go first: one that is farther from the store would else never be in time. */
  function isAsked(list: string, waiting: string | null | undefined): boolean {
    if (waiting == null || waiting === self) return false;
    const now = performance.now();
    const asked = known.get(list)?.asked;
    if (asked?.waiting === waiting) return now - asked.since < YIELD_MS;
    know(list, { asked: { waiting, since: now } });
    return true;
  }

  function isDead(list: string, { turn, ended }: HeadDocument): boolean {
    const now = performance.now();
    const seen = known.get(list)?.seen;
    if (seen?.turn !== turn) know(list, { seen: { turn, since: now } });
    const watchedMs = seen?.turn === turn ? now - seen.since : 0;
    return ended || watchedMs > DEAD_MS;
  }

  /** Writes the heads of those lists that are as they were. @returns those that were written */
  async function write(wanted: readonly Wanted[]): Promise<Wanted[]> {
    const updates = wanted.map(({ before, waiting, head: { _id, ...$set } }) =>
      before === null
        ? { updateOne: { filter: { _id }, update: { $setOnInsert: $set, $currentDate }, upsert: true } }
        : {
            updateOne: {
              filter: { _id, turn: before, waiting },
              update: { $set, $currentDate, $unset: { waiting: '' as const } },
            },
          },
    );
    const { matchedCount, upsertedCount } = await heads.bulkWrite(updates, { ordered: false }).catch((error) => {
      // Of two processes that write the first head of a list, one may get the error that it exists.
      for (const failure of writeErrorsOf(error).values()) if (!isDuplicateKey(failure)) throw failure;
      return { matchedCount: 0, upsertedCount: 0 };
    });
    const firsts = wanted.filter(({ before }) => before === null).length;
    if (upsertedCount === firsts && matchedCount === wanted.length - firsts) return [...wanted];
    // The answer has only the number of the heads that were written, so the documents say which ones.
    const ids = wanted.map(({ head }) => head._id);
    const found = await heads.find({ _id: { $in: ids } }, { projection: { turn: 1 } }).toArray();
    const turns = new Set(found.map(({ turn }) => turn));
    return wanted.filter(({ head }) => turns.has(head.turn));
  }

  /** A turn that was taken. @param begun when that began, monotonic milliseconds */
  function turnOf({ list, head }: Wanted, begun: number): ListTurn {
    const { _id, turn, top } = head;
    // Unknown until it ends, so that a failure in between is one.
    know(list, { own: null, seen: null, asked: null });
    return {
      canBegin: () => performance.now() - begun < BEGIN_MS,
      end(stored) {
        know(list, { own: { turn, top } });
        // Who does not see this waits as for a dead process.
        if (!stored) void heads.updateOne({ _id, turn }, { $set: { ended: true } }).catch(() => undefined);
      },
    };
  }

  async function takeMany(plans: ReadonlyMap<string, PlanTurn>): Promise<Map<string, ListTurn>> {
    const begun = performance.now();
    const looked = new Map<string, PlanTurn>();
    const wanted: Wanted[] = [];
    for (const [list, plan] of plans) {
      const { own, sharedUntil } = known.get(list) ?? UNKNOWN;
      if (own && sharedUntil < begun) wanted.push(want(list, plan, own));
      else looked.set(list, plan);
    }
    if (looked.size > 0) wanted.push(...(await look(looked)));
    const written = wanted.length === 0 ? [] : await write(wanted);
    const taken = new Map(written.map((each) => [each.list, turnOf(each, begun)]));
    // Others have come.
    for (const { list } of wanted) if (!taken.has(list)) know(list, { own: null, sharedUntil: begun + SHARED_MS });
    return taken;
  }

  return {
    takeMany,
    async take(list, plan) {
      const latest = performance.now() + PATIENCE_MS;
      let losses = 0;
      for (let pause: number = PAUSE_MS.first; ; pause = Math.min(pause * 1.5, PAUSE_MS.longest)) {
        const turn = (await takeMany(new Map([[list, plan]]))).get(list);
        if (turn) return turn;
        if (++losses > LOSSES && losses % LOSSES === 1)
          await heads.updateOne({ _id: headId(list), waiting: null }, { $set: { waiting: self } });
        if (performance.now() > latest)
          throw serviceError('internal_error', 'The service is not available at the moment. Try again.', null, 503);
        await sleep(pause * (0.5 + Math.random()));
      }
    },
  };
}
