import type { Collection, Db } from 'mongodb';
import {
  type BegunReconciliation,
  ReconciliationBusy,
  type ReconciliationProgress,
  type ReconciliationRun,
  type ReconciliationState,
} from '../domain/authority/reconciliation.ts';
import { CLOCK_SKEW_MS } from '../domain/durations.ts';
import { later } from '../domain/later.ts';
import { insertNew } from './insert-new.ts';
import { createLeases } from './leases.ts';
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
  const leases = createLeases(states, { token: 'token', until: (end) => ({ leaseUntil: end }) });

  async function release(token: string, fields: Partial<StateDocument>): Promise<void> {
    const $set = { ...fields, token: null, leaseUntil: new Date(0) };
    await leases.release([{ leases: [{ id: 'live', token }], update: { $set } }]);
  }

  return {
    async begin(leaseMs) {
      const now = clock();
      const taken = await take();
      if (taken || (await insertNew(states, [{ _id: 'live', ...NOTHING_YET, leaseUntil: new Date(0) }])).size === 0)
        return taken;
      return take();

      async function take(): Promise<BegunReconciliation | null> {
        // A lease that ends later than a lease taken now would was taken by a clock that was ahead.
        const ahead = later(now, leaseMs + CLOCK_SKEW_MS);
        const due = { $or: [{ leaseUntil: { $lte: now } }, { leaseUntil: { $gt: ahead } }] };
        const [state] = await leases.claimMany(['live'], due, { leaseMs, now });
        if (!state?.token) return null;
        const { token, cursor, checkedUntil, stalled } = state;
        return { token, progress: { cursor, checkedUntil, stalled } };
      }
    },
    async advance(token, leaseMs, progress) {
      if ((await leases.renew([{ id: 'live', token, leaseMs }], clock(), progress)) === 0)
        throw new ReconciliationBusy('another process has taken the reconciliation over');
    },
    end: (token, run, progress) => release(token, { ...progress, last: run }),
    release: (token) => release(token, {}),
    last: async () => (await states.findOne({ _id: 'live' }))?.last ?? null,
  };
}
