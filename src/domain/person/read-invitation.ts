import { isStillEntitled } from './accept-invitation.ts';
import { type InvitationState, invitationId, isMailedToken } from './invitation.ts';
import type { PeopleRepository } from './ports.ts';

/**
 * Tells somebody with a link what has become of it, and nothing else: neither who invited, nor whom, nor to what.
 * @param token of any text
 */
export type ReadInvitation = (token: string) => Promise<InvitationState>;

export function createReadInvitation(
  people: Pick<PeopleRepository, 'findInvitation' | 'grantsOf'>,
  now: () => Date,
): ReadInvitation {
  return async (token) => {
    const found = await people.findInvitation(invitationId(token), now());
    if (found === null) return 'unknown';
    const { invitation, ended } = found;
    if (ended !== null) return ended;
    if (isMailedToken(token, invitation) === null) return 'unknown';
    return (await isStillEntitled(invitation, people)) ? 'open' : 'revoked';
  };
}
