import type { Collection, Db } from 'mongodb';
import { CODES_LOCKED_MS, MAX_WRONG_CODES } from '../domain/person/limits.ts';
import type { CodeTries } from '../domain/person/ports.ts';
import { storeClock } from './store-clock.ts';

/**
 * The one-time codes of a person, as the accounts library stores them. The library leaves counting the tries to this
 * module.
 */
interface StoredCodes {
  userId: string;
  /** Tries since the last correct code. */
  failedVerificationCount?: number;
  /** UTC. Set when the last permitted try is used. */
  lockedUntil?: Date | null;
}

/**
 * Counts tries in the document that holds the person's codes, so that new codes start with a new count. Each step is
 * one atomic update.
 */
export function createCodeTries(db: Db): CodeTries {
  const codes: Collection<StoredCodes> = db.collection('person_codes');
  const clock = storeClock(db.client);

  async function taken(userId: string): Promise<boolean> {
    const before = await codes.updateOne(
      { userId, failedVerificationCount: { $not: { $gte: MAX_WRONG_CODES - 1 } } },
      { $inc: { failedVerificationCount: 1 } },
    );
    if (before.matchedCount > 0) return true;
    const last = await codes.updateOne(
      { userId, failedVerificationCount: MAX_WRONG_CODES - 1 },
      { $inc: { failedVerificationCount: 1 }, $set: { lockedUntil: new Date(clock().getTime() + CODES_LOCKED_MS) } },
    );
    return last.matchedCount > 0;
  }

  /** Resets the count if the lock has ended. @returns false if no ended lock was found */
  async function unlocked(userId: string): Promise<boolean> {
    const { matchedCount } = await codes.updateOne(
      {
        userId,
        failedVerificationCount: { $gte: MAX_WRONG_CODES },
        lockedUntil: { $lte: clock() },
      },
      { $set: { failedVerificationCount: 0, lockedUntil: null } },
    );
    return matchedCount > 0;
  }

  return {
    async take(personId) {
      if (await taken(personId)) return true;
      // The result is ignored: a concurrent request may have reset the count already.
      await unlocked(personId);
      if (await taken(personId)) return true;
      // A person without codes is let through: the library then reports that there are none.
      return (await codes.findOne({ userId: personId }, { projection: { _id: 1 } })) === null;
    },
    async giveBack(personId) {
      await codes.updateOne(
        { userId: personId, failedVerificationCount: { $gt: 0 } },
        { $inc: { failedVerificationCount: -1 }, $set: { lockedUntil: null } },
      );
    },
    async clear(personId) {
      await codes.updateOne({ userId: personId }, { $set: { failedVerificationCount: 0, lockedUntil: null } });
    },
  };
}
