import { createHash, randomBytes } from 'node:crypto';
import type { Grants } from './person.ts';

/** The right to make an account, or to add the grants to one. It is used once. */
export interface Invitation {
  /** SHA-256 of the token, lower-case hex. */
  readonly id: string;
  /** In lower case; null: whoever has the link. */
  readonly email: string | null;
  readonly grants: Grants;
  /** UTC. */
  readonly expiresAt: Date;
}

/** How long an invitation is valid, milliseconds. */
export const INVITATION_MS = 7 * 86_400_000;

/** @returns the invitation, and its token, which is stored nowhere */
export function newInvitation(
  { email, grants }: Pick<Invitation, 'email' | 'grants'>,
  now: Date,
): { invitation: Invitation; token: string } {
  const token = randomBytes(24).toString('base64url');
  const expiresAt = new Date(now.getTime() + INVITATION_MS);
  return { token, invitation: { id: invitationId(token), email: email?.toLowerCase() ?? null, grants, expiresAt } };
}

export function invitationId(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The page where an invitation is accepted. The token is in the fragment, which browsers send to nobody. */
export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/join#${token}`;
}
