import type { Db, Document } from 'mongodb';
import type { IssuedDays } from '../domain/invoice/periods/filter-totals.ts';
import { DAY_SUMS_COLLECTION, type DaySumsDocument, dayKey, daySumsOf } from './day-sums.ts';

/** Reads the sums of a tenant's days in order, without knowing the days on which documents were issued. */
export function createIssuedDays(db: Db): IssuedDays {
  const days = db.collection<DaySumsDocument>(DAY_SUMS_COLLECTION);
  return {
    async between(owner, { from, through }, limit) {
      const range = { $gte: dayKey(owner, from ?? ''), $lte: dayKey(owner, through ?? '9999-12-31') };
      const found = days.find({ _id: range } as Document).sort({ _id: 1 });
      return (await found.limit(limit).toArray()).map(daySumsOf);
    },
  };
}
