import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { serviceError } from '../domain/errors.ts';
import { later } from '../domain/later.ts';
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
  at: Date;
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
   * Takes turns at lists at which this process had the last one, with one command, or two if others have come.
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
/** When a turn that does not end is over, because its process died: by the clock of the process that waits, milliseconds. */
const DEAD_MS = 5000;
/** By the clock of the process that died: a turn that is older does not make anybody wait. */
const LONG_DEAD_MS = 120_000;
/** How long a process waits for its turn at most, milliseconds. */
const PATIENCE_MS = 15_000;
/** Pause between two looks at a turn of another process, from the first to the longest, milliseconds. */
const PAUSE_MS = { first: 3, longest: 50 } as const;
/** How long a process leaves a list to the others that it shares it with after a turn, milliseconds. */
const REST_MS = 10;
/** How long a process looks for turns of others before it takes its own, after it has met one, milliseconds. */
const SHARED_MS = 30_000;
/** Maximum number of lists of which this process remembers its last turn. */
const REMEMBERED = 10_000;
/** How long the document of a list is kept after its last turn, seconds: keys of a day ago are lower than new ones. */
export const HEADS_SECONDS = 86_400;

/** What this process knows of a list. */
interface Known {
  /** Its last turn, if nothing of it is under way; null if it is unknown what became of it. */
  own: { readonly turn: string; readonly top: string } | null;
  /** Monotonic, milliseconds. */
  endedAt: number;
  sharedUntil: number;
}

/** @param rows the collection of the lists' rows */
export function createListTurns<Row extends { _id: string; order: string }>(db: Db, rows: Collection<Row>): ListTurns {
  const heads = db.collection<HeadDocument>('list_heads');
  const known = new Map<string, Known>();

  const headOf = (list: string) => `${rows.collectionName} ${list}`;
  const isShared = (list: string) => (known.get(list)?.sharedUntil ?? 0) > performance.now();

  function know(list: string, news: Partial<Known>): void {
    const before = known.get(list) ?? { own: null, endedAt: 0, sharedUntil: 0 };
    known.delete(list);
    if (known.size >= REMEMBERED) known.clear();
    known.set(list, { ...before, ...news });
  }

  const share = (list: string) => know(list, { own: null, sharedUntil: performance.now() + SHARED_MS });

  /** A turn that was taken. @param begun when the command was sent, monotonic milliseconds */
  function turnOf(list: string, { turn, top }: HeadDocument, begun: number): ListTurn {
    const ended = (own: Known['own']) => know(list, { own, endedAt: performance.now() });
    // Unknown until it ends, so that a failure in between is one.
    ended(null);
    return {
      canBegin: () => performance.now() - begun < BEGIN_MS,
      end(stored) {
        ended({ turn, top });
        // Who does not see this waits as for a dead process.
        if (!stored)
          void heads.updateOne({ _id: headOf(list), turn }, { $set: { ended: true } }).catch(() => undefined);
      },
    };
  }

  const newHead = (list: string, plan: TurnPlan): HeadDocument => ({
    ...{ _id: headOf(list), turn: randomUUID(), ...plan, ended: false, at: new Date() },
  });

  /** Takes the turn after another one, unless somebody has it already. */
  async function takeAfter(list: string, before: Pick<HeadDocument, 'turn' | 'top'>, plan: PlanTurn) {
    const begun = performance.now();
    const { _id, ...$set } = newHead(list, plan(before.top));
    const { matchedCount } = await heads.updateOne({ _id, turn: before.turn }, { $set });
    return matchedCount === 1 ? turnOf(list, { _id, ...$set }, begun) : null;
  }

  /** Takes the first turn at a list, unless somebody has it already. */
  async function takeFirst(list: string, plan: PlanTurn) {
    const begun = performance.now();
    const head = newHead(list, plan(''));
    // Not an insert: a document that exists would be an error in the log of some servers.
    const { upsertedCount } = await heads.updateOne({ _id: head._id }, { $setOnInsert: head }, { upsert: true });
    return upsertedCount === 1 ? turnOf(list, head, begun) : null;
  }

  async function isOver({ last, top, ended, at }: HeadDocument, watchedMs: number): Promise<boolean> {
    if (ended || watchedMs > DEAD_MS || later(at, LONG_DEAD_MS) < new Date()) return true;
    const found = await rows.findOne({ _id: last } as never, { projection: { order: 1 } });
    return found?.order === top;
  }

  async function takeWithOthers(list: string, plan: PlanTurn): Promise<ListTurn> {
    const begun = performance.now();
    let watched = { turn: '', since: begun };
    for (let pause: number = PAUSE_MS.first; ; pause = Math.min(pause * 1.5, PAUSE_MS.longest)) {
      const head = await heads.findOne({ _id: headOf(list) });
      if (head && head.turn !== watched.turn) watched = { turn: head.turn, since: performance.now() };
      let turn: ListTurn | null = null;
      if (head === null) turn = await takeFirst(list, plan);
      else if (await isOver(head, performance.now() - watched.since)) turn = await takeAfter(list, head, plan);
      if (turn) return turn;
      if (performance.now() - begun > PATIENCE_MS)
        throw serviceError('internal_error', 'The service is not available at the moment. Try again.', null, 503);
      await sleep(pause * (0.5 + Math.random()));
    }
  }

  return {
    async takeMany(plans) {
      const begun = performance.now();
      const wanted = [...plans].flatMap(([list, plan]) => {
        const own = isShared(list) ? null : known.get(list)?.own;
        return own ? [{ list, before: own.turn, head: newHead(list, plan(own.top)) }] : [];
      });
      if (wanted.length === 0) return new Map();
      const updates = wanted.map(({ before, head: { _id, ...$set } }) => ({
        updateOne: { filter: { _id, turn: before }, update: { $set } },
      }));
      const { matchedCount } = await heads.bulkWrite(updates, { ordered: false }).catch((error: unknown) => {
        const [failure] = writeErrorsOf(error).values();
        throw failure;
      });
      // The answer has only the number of the turns that were taken, so the documents say which ones.
      const present =
        matchedCount < wanted.length
          ? await heads
              .find({ _id: { $in: wanted.map(({ head }) => head._id) } }, { projection: { turn: 1 } })
              .toArray()
          : wanted.map(({ head }) => head);
      const turns = new Set(present.map(({ turn }) => turn));
      const taken = wanted.filter(({ head }) => turns.has(head.turn));
      for (const { list, head } of wanted) if (!turns.has(head.turn)) share(list);
      return new Map(taken.map(({ list, head }) => [list, turnOf(list, head, begun)]));
    },

    async take(list, plan) {
      const own = known.get(list)?.own;
      if (own && !isShared(list)) {
        const turn = await takeAfter(list, own, plan);
        if (turn) return turn;
        share(list);
      }
      const rest = (known.get(list)?.endedAt ?? 0) + REST_MS - performance.now();
      if (isShared(list) && rest > 0) await sleep(rest);
      return takeWithOthers(list, plan);
    },
  };
}
