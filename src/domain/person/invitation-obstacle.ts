import type { TenantRepository } from '../tenant/ports.ts';
import type { Invitation } from './invitation.ts';
import type { PeopleRepository } from './ports.ts';

/**
 * Returns why an invitation that has not ended grants nothing at present; null if it does grant.
 * @returns revoked: its inviter could not make it any more; suspended: a tenant of it is suspended and can only be read
 */
export async function obstacleOf(
  invitation: Invitation,
  people: Pick<PeopleRepository, 'grantsOf'>,
  tenants: Pick<TenantRepository, 'find'>,
): Promise<'revoked' | 'suspended' | null> {
  if (!(await isStillEntitled(invitation, people))) return 'revoked';
  const found = await Promise.all(invitation.grants.memberships.map(({ tenantId }) => tenants.find(tenantId)));
  return found.some((tenant) => tenant !== null && tenant.suspendedAt !== null) ? 'suspended' : null;
}

/** Whether the inviter could still make the invitation. */
async function isStillEntitled(
  { invitedBy, grants }: Invitation,
  people: Pick<PeopleRepository, 'grantsOf'>,
): Promise<boolean> {
  if (invitedBy === null) return true;
  const { isOperator, memberships } = await people.grantsOf(invitedBy.personId);
  if (invitedBy.as === 'operator') return isOperator;
  return grants.memberships.every(({ tenantId }) =>
    memberships.some((each) => each.tenantId === tenantId && each.role === 'owner'),
  );
}
