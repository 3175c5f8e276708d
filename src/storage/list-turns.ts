import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Collection, Db, Filter } from 'mongodb';
import { serviceError } from '../domain/errors.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { turnPauses } from './turn-pauses.ts';
import { writeErrorsOf } from './write-errors.ts';

/** The last turn at a list. The turn is over when its last row is stored. */
interface HeadDocument {
  /** The list, e.g. `invoices ten_1 test`. */
  _id: string;
  turn: string;
  /** The highest order key that was given out in the list: the key of `last`. */
  top: string;
  /** The id of the last row of the turn. */
  last: string;
  /** Whether the turn is over without its last row: that row will never be stored with the key `top`. */
  ended: boolean;
  /** When the turn began, by the store's clock. Used only to expire the document. */
  at: Date;
  /** Id of a process that lost several turns; the other processes let it take the next turn. */
  waiting?: string | null;
}

/** What a turn will write: the highest order key, and the id of the row with that key, which is written last. */
export type TurnPlan = Pick<HeadDocument, 'top' | 'last'>;

/** Plans a turn. @param top the highest order key of the list; empty if nothing was written within a day */
export type PlanTurn = (top: string) => TurnPlan;

export interface ListTurn {
  /**
   * Whether there is still time to begin a write. When there is none, another process may already have the next turn.
   */
  canBegin(): boolean;
  /**
   * Ends the turn. To be called when the outcome of all writes is known; not when a failed write may still take effect.
   * @param stored whether the last row was stored as planned
   */
  end(stored: boolean): void;
}

/**
 * Gives processes turns at lists, so that rows appear in the order of their keys whichever process writes them
 * (docs/decisions/0022). The keys of a turn are higher than those of all earlier turns, and a turn begins only when the
 * rows of the turn before are stored. One document for each list, its head, records the last turn. The process that had
 * the last turn takes the next one with one command; another process first checks whether the last row is stored.
 */
export interface ListTurns {
  /**
   * Takes turns at lists without waiting: with one command for lists at which this process had the last turn, with up
   * to four in total where other processes may have had it.
   * @returns the turns that were taken, by list; for a list that is missing call {@link take}
   */
  takeMany(plans: ReadonlyMap<string, PlanTurn>): Promise<Map<string, ListTurn>>;
  /**
   * Waits until other processes have finished their turns at a list, then takes a turn.
   * @throws {ServiceError} internal_error (503) if the other processes take too long
   */
  take(list: string, plan: PlanTurn): Promise<ListTurn>;
}

/** How long after the begin of its turn a process may begin a write, milliseconds. */
const BEGIN_MS = 2000;
/**
 * After this time a turn that was not ended counts as over, because its process died, milliseconds. The waiting process
 * measures it itself, because the clocks of two processes may differ by any amount.
 */
const DEAD_MS = 5000;
/** Maximum time that a process waits for its turn, milliseconds. */
const PATIENCE_MS = 15_000;
/** Pause between two checks whether another process's turn is over, from the first to the longest, milliseconds. */
const PAUSE_MS = { first: 3, longest: 50 } as const;
/**
 * How long a process reads the head before each of its turns, after it met another process at the list, milliseconds.
 */
const SHARED_MS = 30_000;
/** Number of turns that a process loses before it asks the others to let it go first. */
const LOSSES = 2;
/** How long a process lets another process that asked go first, milliseconds from when it saw the request. */
const YIELD_MS = 1000;
/** Maximum number of lists of which this process remembers its last turn. */
const REMEMBERED = 10_000;
/**
 * How long the head of a list is kept after its last turn, seconds. New keys are higher than keys that are a day old.
 */
export const HEADS_SECONDS = 86_400;

/** What this process knows about a list. */
interface Known {
  /** This process's last turn, if it has ended and no turn of another process was seen since. */
  readonly own: Pick<HeadDocument, 'turn' | 'top'> | null;
  /** Until when this process reads the head before it takes a turn, monotonic milliseconds. */
  readonly sharedUntil: number;
  /** Another process's turn that was not over, and when it was first seen, monotonic milliseconds. */
  readonly seen: { readonly turn: string; readonly since: number } | null;
  /** The process that asked to go first, and when the request was first seen, monotonic milliseconds. */
  readonly asked: { readonly waiting: string; readonly since: number } | null;
}

const UNKNOWN: Known = { own: null, sharedUntil: 0, seen: null, asked: null };

const $currentDate = { at: true } as const;

/**
 * The head that this process wants to write. `before` is the turn that the head must still have; null: there is no
 * head.
 */
interface Wanted {
  readonly list: string;
  readonly before: string | null;
  /** The process that asked to go first when the head was read; null: none. */
  readonly waiting: string | null;
  readonly head: Omit<HeadDocument, 'at'>;
}

/** @param rows the collection of the lists' rows */
export function createListTurns<Row extends { _id: string; order: string }>(db: Db, rows: Collection<Row>): ListTurns {
  const heads = db.collection<HeadDocument>('list_heads');
  const known = new LRUCache<string, Known>({ max: REMEMBERED });
  /** Id of this process, stored in `waiting` when it asks to go first. */
  const self = randomUUID();

  function know(list: string, news: Partial<Known>): void {
    known.set(list, { ...(known.get(list) ?? UNKNOWN), ...news });
  }

  const headId = (list: string) => `${rows.collectionName} ${list}`;

  function want(list: string, plan: PlanTurn, before: Pick<HeadDocument, 'turn' | 'top' | 'waiting'> | null): Wanted {
    const head = { _id: headId(list), turn: randomUUID(), ...plan(before?.top ?? ''), ended: false };
    return { list, before: before?.turn ?? null, waiting: before?.waiting ?? null, head };
  }

  /** Reads the heads of lists whose last turn another process may have had. @returns the turns that are free now */
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

  /**
   * Whether another process must get the next turn. Without this rule, a process with a slower connection to the store
   * would never get a turn.
   */
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

  /** Writes the heads that have not changed since they were read. @returns those that were written */
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
      // When two processes write the first head of a list, one of them may get a duplicate key error.
      for (const failure of writeErrorsOf(error).values()) if (!isDuplicateKey(failure)) throw failure;
      return { matchedCount: 0, upsertedCount: 0 };
    });
    const firsts = wanted.filter(({ before }) => before === null).length;
    if (upsertedCount === firsts && matchedCount === wanted.length - firsts) return [...wanted];
    // The reply only counts the heads that were written, so they are read to find out which.
    const ids = wanted.map(({ head }) => head._id);
    const found = await heads.find({ _id: { $in: ids } }, { projection: { turn: 1 } }).toArray();
    const turns = new Set(found.map(({ turn }) => turn));
    return wanted.filter(({ head }) => turns.has(head.turn));
  }

  /** Returns a turn that was taken. @param begun when taking it began, monotonic milliseconds */
  function turnOf({ list, head }: Wanted, begun: number): ListTurn {
    const { _id, turn, top } = head;
    // Until `end` is called, nothing is known about the list. So after a failure the head is read before the next turn.
    know(list, { own: null, seen: null, asked: null });
    return {
      canBegin: () => performance.now() - begun < BEGIN_MS,
      end(stored) {
        know(list, { own: { turn, top } });
        // If this update fails, other processes wait as they do for a dead process.
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
    // Another process has taken a turn at these lists.
    for (const { list } of wanted) if (!taken.has(list)) know(list, { own: null, sharedUntil: begun + SHARED_MS });
    return taken;
  }

  return {
    takeMany,
    async take(list, plan) {
      const latest = performance.now() + PATIENCE_MS;
      let losses = 0;
      const pauses = turnPauses(PAUSE_MS);
      for (;;) {
        const turn = (await takeMany(new Map([[list, plan]]))).get(list);
        if (turn) return turn;
        if (++losses > LOSSES && losses % LOSSES === 1)
          await heads.updateOne({ _id: headId(list), waiting: null }, { $set: { waiting: self } });
        if (performance.now() > latest)
          throw serviceError('internal_error', 'The service is not available at the moment. Try again.', null, 503);
        await sleep(pauses.next().value);
      }
    },
  };
}
