import { createHash, randomBytes } from 'node:crypto';
import type { Grants } from './person.ts';

/** The right to make an account, or to add the grants to one. It is used once. */
export interface Invitation {
  /** SHA-256 of the token, lower-case hex. */
  readonly id: string;
  /** In lower case; null: whoever has the link. */
  readonly email: string | null;
  /**
   * SHA-256 of what the mailed link has in addition to the token, lower-case hex; null: no link was mailed. The account that
   * is made with it has a confirmed address; whoever invited does not see it.
   */
  readonly proofHash: string | null;
  readonly grants: Grants;
  /** Who made it; null: the command line or the first start did. */
  readonly invitedBy: Inviter | null;
  /** UTC. */
  readonly expiresAt: Date;
}

/** Who made an invitation, and what let them, which they must still be when it is used. */
export interface Inviter {
  readonly personId: string;
  readonly as: 'owner' | 'operator';
}

/**
 * What has become of a link: `suspended` while a tenant of it is, so that it grants nothing yet; `unknown` if it has
 * expired, or was never one.
 */
export type InvitationState = 'open' | 'suspended' | 'used' | 'revoked' | 'unknown';

/** How long an invitation is valid, milliseconds. */
export const INVITATION_MS = 7 * 86_400_000;

/**
 * How long an accepted invitation can neither be withdrawn nor be accepted again, milliseconds: more than it takes to grant its role. Afterwards the
 * process that should have granted it has ended.
 */
export const CLAIM_MS = 60_000;

/** Who is invited to what. */
export type Invitee = Pick<Invitation, 'email' | 'grants' | 'invitedBy'>;

/**
 * @returns the invitation; its token; and the token of the mail to its address, null without one. Neither is stored. Whoever
 *   has the second one has read the mail: it is shown to nobody else
 */
export function newInvitation(
  { email, grants, invitedBy }: Invitee,
  now: Date,
): { invitation: Invitation; token: string; mailedToken: string | null } {
  const [token, proof] = [randomPart(), randomPart()];
  const address = email?.toLowerCase() ?? null;
  const invitation = {
    id: hashOf(token),
    email: address,
    grants,
    invitedBy,
    proofHash: address === null ? null : hashOf(proof),
    expiresAt: new Date(now.getTime() + INVITATION_MS),
  };
  return { token, invitation, mailedToken: address === null ? null : `${token}.${proof}` };
}

/** @param token of a link, also a mailed one */
export function invitationId(token: string): string {
  return hashOf(partsOf(token)[0]);
}

/**
 * Whether the token is the mailed one, so that its holder reads the mail of the invitation's address; null if it claims to
 * be, and is not.
 */
export function isMailedToken(token: string, { proofHash }: Pick<Invitation, 'proofHash'>): boolean | null {
  const [, proof] = partsOf(token);
  if (proof === null) return false;
  return proofHash !== null && hashOf(proof) === proofHash ? true : null;
}

/** A token of a link that may be copied, and what the mail has in addition: null if there is nothing. */
function partsOf(token: string): readonly [string, string | null] {
  const at = token.indexOf('.');
  return at < 0 ? [token, null] : [token.slice(0, at), token.slice(at + 1)];
}

function randomPart(): string {
  return randomBytes(24).toString('base64url');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The page where an invitation is accepted. The token is in the fragment, which browsers send to nobody. */
export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/join#${token}`;
}
