import type { Collection, Db } from 'mongodb';
import type { Invitation } from '../domain/person/invitation.ts';
import type { Grants, Membership } from '../domain/person/person.ts';
import type { PeopleRepository } from '../domain/person/ports.ts';

interface StoredGrants extends Grants {
  /** Id of the person. */
  _id: string;
  memberships: Membership[];
}

interface StoredInvitation extends Omit<Invitation, 'id'> {
  _id: string;
  /** The address of the person who is accepting it. */
  reservedFor?: string;
}

const NOTHING: Grants = { isOperator: false, memberships: [] };

/** Grants in `person_grants`, one document for each person, and invitations in `invitations`, by the hash of the token. */
export function createPeopleRepository(db: Db): PeopleRepository {
  const stored: Collection<StoredGrants> = db.collection('person_grants');
  const invitations: Collection<StoredInvitation> = db.collection('invitations');

  async function join(personId: string, membership: Membership): Promise<void> {
    const { tenantId, role } = membership;
    const changed = await stored.updateOne(
      { _id: personId, 'memberships.tenantId': tenantId },
      { $set: { 'memberships.$.role': role } },
    );
    if (changed.matchedCount > 0) return;
    // Not if another process has just added the tenant.
    await stored.updateOne(
      { _id: personId, 'memberships.tenantId': { $ne: tenantId } },
      { $push: { memberships: membership } },
    );
  }

  return {
    async grantsOf(personId) {
      const found = await stored.findOne({ _id: personId });
      return found ? { isOperator: found.isOperator, memberships: found.memberships } : NOTHING;
    },
    async grant(personId, { isOperator, memberships }) {
      await stored.updateOne(
        { _id: personId },
        isOperator
          ? { $set: { isOperator }, $setOnInsert: { memberships: [] } }
          : { $setOnInsert: { isOperator, memberships: [] } },
        { upsert: true },
      );
      for (const membership of memberships) await join(personId, membership);
    },
    async insertInvitation({ id, ...invitation }) {
      await invitations.insertOne({ _id: id, ...invitation });
    },
    async reserveInvitation(id, email, now) {
      const found = await invitations.findOneAndUpdate(
        {
          _id: id,
          expiresAt: { $gt: now },
          email: { $in: [null, email] },
          reservedFor: { $in: [null, email] } as never,
        },
        { $set: { reservedFor: email } },
      );
      return found && { id, email: found.email, grants: found.grants, expiresAt: found.expiresAt };
    },
    async removeInvitation(id) {
      await invitations.deleteOne({ _id: id });
    },
  };
}
