import { type Invitation, invitationUrl, newInvitation } from './invitation.ts';
import type { PeopleRepository } from './ports.ts';

/**
 * Invites somebody.
 * @param publicUrl the service's address
 * @returns the link, whose token is stored nowhere
 */
export async function invite(
  people: Pick<PeopleRepository, 'insertInvitation'>,
  whom: Omit<Invitation, 'id' | 'expiresAt'>,
  publicUrl: string,
): Promise<string> {
  const { invitation, token } = newInvitation(whom, new Date());
  await people.insertInvitation(invitation);
  return invitationUrl(publicUrl, token);
}
