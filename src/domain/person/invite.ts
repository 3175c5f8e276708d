import { type Invitee, invitationUrl, newInvitation } from './invitation.ts';
import type { PeopleRepository } from './ports.ts';

/** The links of an invitation, whose tokens are stored nowhere. */
export interface InvitationLinks {
  /** To copy. An account that is made with it has an address that nobody has confirmed. */
  readonly link: string;
  /** For the mail to the invited address alone, which it confirms; null without an address. */
  readonly mailedLink: string | null;
}

/**
 * Invites somebody.
 * @param publicUrl the service's address
 */
export async function invite(
  people: Pick<PeopleRepository, 'insertInvitation'>,
  whom: Invitee,
  publicUrl: string,
): Promise<InvitationLinks> {
  const { invitation, token, mailedToken } = newInvitation(whom, new Date());
  await people.insertInvitation(invitation);
  return {
    link: invitationUrl(publicUrl, token),
    mailedLink: mailedToken === null ? null : invitationUrl(publicUrl, mailedToken),
  };
}
