import { type Invitee, invitationUrl, newInvitation } from './invitation.ts';
import type { PeopleRepository } from './ports.ts';

/** The links of an invitation. Their tokens are not stored. */
export interface InvitationLinks {
  /** The link to copy. An account created with it has an unconfirmed address. */
  readonly link: string;
  /** The link for the mail to the invited address only, which it confirms; null without an address. */
  readonly mailedLink: string | null;
}

/**
 * Makes and stores an invitation, and returns its links.
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
