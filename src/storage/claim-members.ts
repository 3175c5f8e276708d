import type { Collection, Db } from 'mongodb';
import type { ClaimMembers } from '../domain/invoice/claim-members.ts';
import type { Heartbeat } from '../domain/live-workers.ts';
import { insertNew } from './insert-new.ts';

interface MembersDocument {
  _id: 'invoices';
  /** When each worker last reported that it is alive, by the worker's id. */
  workers?: Record<string, Omit<Heartbeat, 'id'>>;
}

const MEMBERS = { _id: 'invoices' } as const;

function heartbeatsOf(workers: NonNullable<MembersDocument['workers']>): readonly Heartbeat[] {
  return Object.entries(workers).map(([id, heartbeat]) => ({ id, ...heartbeat }));
}

/** The workers that claim invoices, in one document of the collection `claim_members`. */
export function createClaimMembers(db: Db): ClaimMembers {
  const members: Collection<MembersDocument> = db.collection('claim_members');
  return {
    async heartbeat({ id, ...heartbeat }) {
      const beat = () =>
        members.findOneAndUpdate(MEMBERS, { $set: { [`workers.${id}`]: heartbeat } }, { returnDocument: 'after' });
      let after = await beat();
      if (after === null) {
        await insertNew(members, [MEMBERS]);
        after = await beat();
      }
      return heartbeatsOf(after?.workers ?? { [id]: heartbeat });
    },

    async list() {
      return heartbeatsOf((await members.findOne(MEMBERS))?.workers ?? {});
    },

    async forget(workerId, at) {
      const field = `workers.${workerId}`;
      await members.updateOne({ ...MEMBERS, ...(at && { [`${field}.at`]: at }) }, { $unset: { [field]: '' } });
    },
  };
}
