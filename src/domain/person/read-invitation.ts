import type { TenantRepository } from '../tenant/ports.ts';
import { type InvitationState, invitationId, isMailedToken } from './invitation.ts';
import { obstacleOf } from './invitation-obstacle.ts';
import type { PeopleRepository } from './ports.ts';

/**
 * Returns the state of a link's invitation, and nothing else: neither the inviter, nor the invited person, nor the
 * grants.
 * @param token any text
 */
export type ReadInvitation = (token: string) => Promise<InvitationState>;

export function createReadInvitation(
  people: Pick<PeopleRepository, 'findInvitation' | 'grantsOf'>,
  tenants: Pick<TenantRepository, 'find'>,
  now: () => Date,
): ReadInvitation {
  return async (token) => {
    const found = await people.findInvitation(invitationId(token), now());
    if (found === null) return 'unknown';
    const { invitation, ended } = found;
    if (ended !== null) return ended;
    if (isMailedToken(token, invitation) === null) return 'unknown';
    return (await obstacleOf(invitation, people, tenants)) ?? 'open';
  };
}
