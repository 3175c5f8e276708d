import type { Collection } from 'mongodb';
import type { Grants } from '../domain/person/person.ts';

interface StoredGrants extends Grants {
  _id: string;
}

export interface PeopleCollections {
  readonly people: Collection<{ _id: string }>;
  readonly grants: Collection<StoredGrants>;
  readonly sessions: Collection<{ userId: string }>;
  /** Passwords, codes, passkeys. */
  readonly credentials: readonly Collection<{ userId: string }>[];
  /** `value` is the id of the person who resets the password. */
  readonly resets: Collection<{ value: string }>;
  readonly invitations: Collection<{ _id: string; grants: Grants }>;
}

/**
 * Removes up to `limit` people and invitations of a tenant. People who belong to another tenant or operate the service
 * only lose their membership of this tenant. The grant is removed last, so that the person is found again after a
 * crash.
 * @returns how many were removed
 */
export async function removePeopleOf(
  { people, grants, sessions, credentials, resets, invitations }: PeopleCollections,
  tenantId: string,
  limit: number,
): Promise<number> {
  const members = await grants.find({ 'memberships.tenantId': tenantId }).limit(limit).toArray();
  for (const { _id, isOperator, memberships } of members) {
    const hasOthers = isOperator || memberships.some((each) => each.tenantId !== tenantId);
    if (!hasOthers) {
      // Sessions first, so that nobody starts anything with an account that is about to be removed.
      await sessions.deleteMany({ userId: _id });
      for (const each of credentials) await each.deleteMany({ userId: _id });
      await resets.deleteMany({ value: _id });
      await people.deleteOne({ _id });
      const { deletedCount } = await grants.deleteOne({ _id, isOperator: false, memberships: { $size: 1 } });
      if (deletedCount === 1) continue;
    }
    await grants.updateOne({ _id }, { $pull: { memberships: { tenantId } } });
  }
  const invited = await invitations.find({ 'grants.memberships.tenantId': tenantId }).limit(limit).toArray();
  for (const { _id, grants: given } of invited) {
    const hasOthers = given.isOperator || given.memberships.some((each) => each.tenantId !== tenantId);
    await (hasOthers
      ? invitations.updateOne({ _id }, { $pull: { 'grants.memberships': { tenantId } } as never })
      : invitations.deleteOne({ _id }));
  }
  return members.length + invited.length;
}
