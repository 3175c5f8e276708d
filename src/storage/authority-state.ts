import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { type BreakerState, CLOSED, LONGEST_WAIT_MS } from '../domain/authority/breaker.ts';
import type { AuthorityState, AuthorityStateStore, Pause } from '../domain/authority/state.ts';
import { later } from '../domain/later.ts';
import { insertNew } from './insert-new.ts';
import { storeClock } from './store-clock.ts';

interface StateDocument {
  _id: 'live';
  version: number;
  breaker: BreakerState;
  pause?: Pause;
  notBefore?: Date;
}

const STATE = { _id: 'live' } as const;
/** Number of times that an update is tried while other processes change the state. */
const TRIES = 50;
const LONGEST_PAUSE_MS = 50;

/** The state of the live authority: one document in the collection `authority_state`, found by its id. */
export function createAuthorityStateStore(db: Db): AuthorityStateStore {
  const states: Collection<StateDocument> = db.collection('authority_state');

  async function read(): Promise<StateDocument> {
    const found = await states.findOne(STATE);
    if (found) return found;
    const first: StateDocument = { ...STATE, version: 0, breaker: CLOSED };
    await insertNew(states, [first]);
    // Another process may have just written it, so that a majority does not have it yet.
    return (await states.findOne(STATE, { readConcern: 'local' })) ?? first;
  }

  return {
    read: async () => stateOf(await read()),

    async update(transition) {
      for (let tries = 1; tries <= TRIES; tries++) {
        // Local, because a majority may not have the latest state yet; the update below is guarded by its version.
        const before = (await states.findOne(STATE, { readConcern: 'local' })) ?? (await read());
        const { next, result } = transition(before.breaker);
        if (next === null || next === before.breaker) return { state: stateOf(before), result };
        const after = await states.findOneAndUpdate(
          { ...STATE, version: before.version },
          { $set: { breaker: next }, $inc: { version: 1 } },
          { returnDocument: 'after' },
        );
        if (after) return { state: stateOf(after), result };
        await sleep(Math.random() * Math.min(2 ** tries, LONGEST_PAUSE_MS));
      }
      throw new Error('the state of the authority changes too often to be updated');
    },

    async postpone(until) {
      await read();
      const tooFar = later(storeClock(db.client)(), LONGEST_WAIT_MS);
      await states.updateOne(
        {
          ...STATE,
          $or: [{ notBefore: { $exists: false } }, { notBefore: { $lt: until } }, { notBefore: { $gt: tooFar } }],
        },
        { $set: { notBefore: until } },
      );
    },

    async pause(pause) {
      await read();
      await states.updateOne(STATE, { $set: { pause } });
    },

    async resume() {
      const before = await states.findOneAndUpdate(STATE, { $unset: { pause: '' } }, { returnDocument: 'before' });
      return before?.pause ?? null;
    },
  };
}

function stateOf({ version, breaker, pause, notBefore }: StateDocument): AuthorityState {
  return {
    version,
    breaker,
    pause: pause ?? null,
    notBefore: notBefore ?? null,
  };
}
