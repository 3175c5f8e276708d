import { createHash, randomBytes } from 'node:crypto';
import type { Grants } from './person.ts';

/** The right to make an account, or to add the grants to one. It is used once. */
export interface Invitation {
  /** SHA-256 of the token, lower-case hex. */
  readonly id: string;
  /** In lower case; null: whoever has the link. */
  readonly email: string | null;
  readonly grants: Grants;
  /** Id of the owner who made it, and must still be one when it is used; null: an operator did. */
  readonly invitedBy: string | null;
  /** UTC. */
  readonly expiresAt: Date;
}

/** How long an invitation is valid, milliseconds. */
export const INVITATION_MS = 7 * 86_400_000;

/**
 * How long an accepted invitation cannot be withdrawn, milliseconds: more than it takes to grant its role. Afterwards the
 * process that should have granted it has ended.
 */
export const CLAIM_MS = 60_000;

/** @returns the invitation, and its token, which is stored nowhere */
export function newInvitation(
  { email, grants, invitedBy }: Omit<Invitation, 'id' | 'expiresAt'>,
  now: Date,
): { invitation: Invitation; token: string } {
  const token = randomBytes(24).toString('base64url');
  const expiresAt = new Date(now.getTime() + INVITATION_MS);
  const address = email?.toLowerCase() ?? null;
  return { token, invitation: { id: invitationId(token), email: address, grants, invitedBy, expiresAt } };
}

export function invitationId(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The page where an invitation is accepted. The token is in the fragment, which browsers send to nobody. */
export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/join#${token}`;
}
