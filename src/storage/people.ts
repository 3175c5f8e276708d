import type { Collection, Db } from 'mongodb';
import { MAX_MEMBERS } from '../domain/limits.ts';
import { CLAIM_MS, type Invitation } from '../domain/person/invitation.ts';
import type { Grants, Membership } from '../domain/person/person.ts';
import { type Place, readPlace } from '../domain/person/place.ts';
import type { PeopleRepository } from '../domain/person/ports.ts';

interface StoredGrants extends Grants {
  /** Id of the person. */
  _id: string;
  memberships: Membership[];
}

interface StoredInvitation extends Omit<Invitation, 'id'> {
  _id: string;
  /**
   * The address of the person who is accepting the invitation. Empty once the invitation has ended, so that it stores
   * no address.
   */
  reservedFor?: string;
  /** When a person accepted the invitation; its role is then being granted. UTC. */
  claimedAt?: Date;
  /**
   * How the invitation ended. This field and the hash stay until it expires, so that a person who opens the link learns
   * why it fails.
   */
  ended?: 'used' | 'revoked';
}

interface StoredPerson {
  _id: string;
  name: string;
  email: string;
  emailVerified?: boolean;
  twoFactorEnabled?: boolean;
}

/** A second factor, as the accounts library stores it. */
interface StoredSecondFactor {
  userId: string;
}

interface StoredSession {
  _id: string;
  userId: string;
  expiresAt: Date;
}

const NOTHING: Grants = { isOperator: false, memberships: [] };

/** The content of an invitation that has ended: nothing about a person or a tenant. */
const ENDED = { reservedFor: '', email: null, proofHash: null, invitedBy: null, grants: NOTHING } as const;

/**
 * Matches the invitations that can still be accepted or withdrawn: nobody has accepted them, or the process that was
 * granting the role died before it finished.
 */
function unclaimed(now: Date) {
  return { claimedAt: { $not: { $gt: new Date(now.getTime() - CLAIM_MS) } } };
}

/**
 * Stores grants in `person_grants`, one document for each person, and invitations in `invitations`, by the hash of the
 * token.
 */
export function createPeopleRepository(db: Db): PeopleRepository {
  const stored: Collection<StoredGrants> = db.collection('person_grants');
  const invitations: Collection<StoredInvitation> = db.collection('invitations');
  /** The accounts library writes people and sessions. */
  const people: Collection<StoredPerson> = db.collection('people');
  const sessions: Collection<StoredSession> = db.collection('person_sessions');
  const codes: Collection<StoredSecondFactor> = db.collection('person_codes');
  const passkeys: Collection<StoredSecondFactor> = db.collection('person_passkeys');

  async function join(personId: string, membership: Membership): Promise<void> {
    const { tenantId, role } = membership;
    const changed = await stored.updateOne(
      { _id: personId, 'memberships.tenantId': tenantId },
      { $set: { 'memberships.$.role': role } },
    );
    if (changed.matchedCount > 0) return;
    // The filter prevents a second membership if another process has just added the tenant.
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
    async removeSecondFactors(email) {
      // Clears the flag first: without it no code is requested at sign-in, even if a crash leaves the codes.
      const found = await people.findOneAndUpdate({ email }, { $set: { twoFactorEnabled: false } });
      if (found === null) return null;
      const { _id: userId, name } = found;
      await Promise.all([codes, passkeys].map((factors) => factors.deleteMany({ userId })));
      await sessions.deleteMany({ userId });
      return { id: userId, email, name };
    },
    async removeOperator(email) {
      const found = await people.findOne({ email });
      if (found === null) return null;
      const { modifiedCount } = await stored.updateOne(
        { _id: found._id, isOperator: true },
        { $set: { isOperator: false } },
      );
      return modifiedCount === 0 ? null : { id: found._id, email, name: found.name };
    },
    async validPlaces(places) {
      const asked = places.map((text) => ({ text, ...readPlace(text) }));
      const [open, grants] = await Promise.all([
        sessions
          .find({ _id: { $in: asked.map(({ sessionId }) => sessionId) }, expiresAt: { $gt: new Date() } })
          .project<{ _id: string }>({ _id: 1 })
          .toArray(),
        stored.find({ _id: { $in: asked.map(({ personId }) => personId) } }).toArray(),
      ]);
      const openIds = new Set(open.map(({ _id }) => _id));
      const roles = new Set(
        grants.flatMap(({ _id, memberships }) => memberships.map(({ tenantId, role }) => `${_id} ${tenantId} ${role}`)),
      );
      const isValid = ({ sessionId, personId, tenantId, role }: Place) =>
        openIds.has(sessionId) && roles.has(`${personId} ${tenantId} ${role}`);
      return new Set(asked.filter(isValid).map(({ text }) => text));
    },
    async membersOf(tenantId) {
      const grants = await stored.find({ 'memberships.tenantId': tenantId }).limit(MAX_MEMBERS).toArray();
      const roles = new Map(
        grants.map(({ _id, memberships }) => [_id, memberships.find((each) => each.tenantId === tenantId)?.role]),
      );
      const found = await people
        .find({ _id: { $in: [...roles.keys()] } })
        .sort({ _id: 1 })
        .toArray();
      return found
        .flatMap(({ _id: id, name, email, emailVerified = false }) => {
          const role = roles.get(id);
          return role ? [{ person: { id, name, email }, role, isConfirmed: emailVerified }] : [];
        })
        .sort((a, b) => a.person.name.localeCompare(b.person.name));
    },
    async memberOf(tenantId, personId) {
      const [grants, person] = await Promise.all([
        stored.findOne({ _id: personId }),
        people.findOne({ _id: personId }, { projection: { name: 1, email: 1, emailVerified: 1 } }),
      ]);
      const role = grants?.memberships.find((each) => each.tenantId === tenantId)?.role;
      if (!role || !person) return null;
      const { name, email, emailVerified = false } = person;
      return { person: { id: personId, name, email }, role, isConfirmed: emailVerified };
    },
    async changeRole(personId, tenantId, role) {
      const own = { _id: personId, memberships: { $elemMatch: { tenantId } } };
      const before = await (role === null
        ? stored.findOneAndUpdate(own, { $pull: { memberships: { tenantId } } })
        : stored.findOneAndUpdate(own, { $set: { 'memberships.$.role': role } }));
      const was = before?.memberships.find((each) => each.tenantId === tenantId);
      if (!was) return false;
      // Checked after the removal. If two owners remove each other at the same time, both see that no owner is left,
      // and both are restored.
      if (was.role !== 'owner' || (await stored.findOne({ memberships: { $elemMatch: { tenantId, role: 'owner' } } })))
        return true;
      await join(personId, was);
      return false;
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
      return found && invitationOf(found);
    },
    async invitationsOf(tenantId, limit, now) {
      const found = await invitations
        .find({ 'grants.memberships.tenantId': tenantId, expiresAt: { $gt: now }, ...unclaimed(now) })
        .limit(limit)
        .toArray();
      return found.map(invitationOf).sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
    },
    async claimInvitation(id, email, now) {
      const { matchedCount } = await invitations.updateOne(
        { _id: id, reservedFor: email, expiresAt: { $gt: now }, ...unclaimed(now) },
        { $set: { claimedAt: now } },
      );
      return matchedCount === 1;
    },
    async findInvitation(id, now) {
      const found = await invitations.findOne({ _id: id, expiresAt: { $gt: now } });
      return found && { invitation: invitationOf(found), ended: found.ended ?? null };
    },
    async revokeInvitation(tenantId, id, now) {
      const { matchedCount } = await invitations.updateOne(
        { _id: id, 'grants.memberships.tenantId': tenantId, ...unclaimed(now) },
        { $set: { ...ENDED, ended: 'revoked' } },
      );
      return matchedCount === 1;
    },
    async endInvitation(id) {
      await invitations.updateOne({ _id: id }, { $set: { ...ENDED, ended: 'used' } });
    },
  };
}

function invitationOf(stored: StoredInvitation): Invitation {
  const { _id: id, email, grants, expiresAt, invitedBy, proofHash } = stored;
  return { id, email, grants, expiresAt, invitedBy, proofHash };
}
