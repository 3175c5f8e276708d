import type { Collection, Db } from 'mongodb';
import {
  ReconciliationBusy,
  type ReconciliationProgress,
  type ReconciliationRun,
  type ReconciliationState,
} from '../domain/authority/reconciliation.ts';
import { CLOCK_SKEW_MS } from '../domain/durations.ts';
import { later } from '../domain/later.ts';
import { insertNew } from './insert-new.ts';
import { storeClock } from './store-clock.ts';

interface StateDocument extends ReconciliationProgress {
  _id: 'live';
  /** The token of the run that holds the lease; null if none does. */
  token: string | null;
  leaseUntil: Date;
  last: ReconciliationRun | null;
}

const NOTHING_YET = { cursor: null, checkedUntil: null, stalled: 0, token: null, last: null };

/** The state of reconciliation in the only document of the collection `authority_reconciliation`. */
export function createReconciliationState(db: Db): ReconciliationState {
  const states: Collection<StateDocument> = db.collection<StateDocument>('authority_reconciliation');
  const clock = storeClock(db.client);
  return {
    async begin(token, leaseMs) {
      const now = clock().getTime();
      const taken = await take();
      if (taken || (await insertNew(states, [{ _id: 'live', ...NOTHING_YET, leaseUntil: new Date(0) }])).size === 0)
        return taken;
      return take();

      async function take(): Promise<ReconciliationProgress | null> {
        const state = await states.findOneAndUpdate(
          // A lease that ends later than a lease taken now would was taken by a clock that was ahead.
          {
            _id: 'live',
            $or: [
              { leaseUntil: { $lte: new Date(now) } },
              { leaseUntil: { $gt: new Date(now + leaseMs + CLOCK_SKEW_MS) } },
            ],
          },
          { $set: { token, leaseUntil: new Date(now + leaseMs) } },
          { returnDocument: 'after' },
        );
        return state && { cursor: state.cursor, checkedUntil: state.checkedUntil, stalled: state.stalled };
      }
    },
    async advance(token, leaseMs, progress) {
      const { matchedCount } = await states.updateOne(
        { _id: 'live', token },
        { $set: { ...progress, leaseUntil: later(clock(), leaseMs) } },
      );
      if (matchedCount === 0) throw new ReconciliationBusy('another process has taken the reconciliation over');
    },
    async end(token, run, progress) {
      await states.updateOne(
        { _id: 'live', token },
        { $set: { ...progress, last: run, token: null, leaseUntil: new Date(0) } },
      );
    },
    async release(token) {
      await states.updateOne({ _id: 'live', token }, { $set: { token: null, leaseUntil: new Date(0) } });
    },
    last: async () => (await states.findOne({ _id: 'live' }))?.last ?? null,
  };
}
