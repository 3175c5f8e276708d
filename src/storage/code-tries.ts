import type { Collection, Db } from 'mongodb';
import { CODES_LOCKED_MS, MAX_WRONG_CODES } from '../domain/person/limits.ts';
import type { CodeTries } from '../domain/person/ports.ts';
import { storeClock } from './store-clock.ts';

/** The codes of a person, as the library of the accounts stores them; it leaves the counting to this module. */
interface StoredCodes {
  userId: string;
  /** Tries since the last right code. */
  failedVerificationCount?: number;
  /** UTC; set with the last try that is left. */
  lockedUntil?: Date | null;
}

/** Counts in the document of the codes, so that codes that are made anew begin anew. Each step is one atomic update. */
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

  /** Begins anew where the lock has ended. @returns false if there is none that has */
  async function unlocked(userId: string): Promise<boolean> {
    const { matchedCount } = await codes.updateOne(
      {
        userId,
        failedVerificationCount: { $gte: MAX_WRONG_CODES },
        // Null: versions before this module counted first and locked afterwards.
        $or: [{ lockedUntil: { $lte: clock() } }, { lockedUntil: null }],
      },
      { $set: { failedVerificationCount: 0, lockedUntil: null } },
    );
    return matchedCount > 0;
  }

  return {
    async take(personId) {
      if (await taken(personId)) return true;
      // Another request may have begun anew a moment ago.
      await unlocked(personId);
      if (await taken(personId)) return true;
      // Without codes there is nothing to guess: the library says so.
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
