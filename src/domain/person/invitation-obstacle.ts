import type { TenantRepository } from '../tenant/ports.ts';
import type { Invitation } from './invitation.ts';
import type { PeopleRepository } from './ports.ts';

/**
 * Why an invitation that has not ended grants nothing at present; null if it does.
 * @returns revoked: who made it could not make it any more; suspended: a tenant of it is, and can only be read
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

/** Whether who made an invitation could still make it. */
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
