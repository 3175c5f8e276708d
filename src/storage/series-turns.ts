import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { SeriesTurns } from '../domain/invoice/numbering.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { storeClock } from './store-clock.ts';
import { turnPauses } from './turn-pauses.ts';

interface TurnDocument {
  /** The number series. */
  _id: string;
  holder: string;
  /** When the turn expires if its process dies. */
  until: Date;
}

/** Maximum duration of a turn, and of the wait for a turn, milliseconds. */
const TURN_MS = 2000;
/**
 * How long the turn document of a dead process is kept, seconds. A turn that was given up may be removed at any time.
 */
export const TURNS_SECONDS = 3600;
/** Pause between two attempts, from the first to the longest, milliseconds. */
const PAUSE_MS = { first: 10, longest: 50 } as const;

/**
 * Gives processes turns at number series, stored in the collection `series_turns`: one document for each series that
 * several processes number.
 * @param report called with a failure of the store; the process then continues without a turn. Must not throw
 */
export function createSeriesTurns(db: Db, report: (failure: unknown) => void): SeriesTurns {
  const turns = db.collection<TurnDocument>('series_turns');
  const clock = storeClock(db.client);

  async function take(series: string, holder: string, now: number): Promise<boolean> {
    const free = { _id: series, until: { $lte: new Date(now) } };
    try {
      await turns.updateOne(free, { $set: { holder, until: new Date(now + TURN_MS) } }, { upsert: true });
      return true;
    } catch (error) {
      // The document exists, but does not match the filter: another process has the turn.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async function leave(series: string, holder: string): Promise<void> {
    // Sets an end far in the past: the clock of the process that takes the next turn may be behind this one.
    await turns.updateOne({ _id: series, holder }, { $set: { until: new Date(0) } });
  }

  return {
    async enter(series) {
      const holder = randomUUID();
      const latest = clock().getTime() + TURN_MS;
      const pauses = turnPauses(PAUSE_MS);
      try {
        for (;;) {
          const now = clock().getTime();
          if (await take(series, holder, now)) break;
          // Checked against the time of the attempt, so that one attempt follows the expiry of a dead process's turn,
          // however slow the store is.
          if (now > latest) return () => undefined;
          await sleep(pauses.next().value);
        }
      } catch (failure) {
        report(failure);
        return () => undefined;
      }
      return () => void leave(series, holder).catch(report);
    },
  };
}
