import { createHash, randomBytes } from 'node:crypto';
import type { Grants } from './person.ts';

/** The right to create an account, or to add the grants to an existing one. It can be used once. */
export interface Invitation {
  /** SHA-256 of the token, lower-case hex. */
  readonly id: string;
  /** The only address that may use it, in lower case; null if any holder of the link may. */
  readonly email: string | null;
  /**
   * SHA-256 of the part that only the mailed link has besides the token, lower-case hex; null if no link was mailed. An
   * account that is created with the mailed link has a confirmed address. The inviter does not see that link.
   */
  readonly proofHash: string | null;
  readonly grants: Grants;
  /** The inviter; null if the command line or the first start made it. */
  readonly invitedBy: Inviter | null;
  /** UTC. */
  readonly expiresAt: Date;
}

/**
 * The person who made an invitation, and the right that allowed it. They must still have it when the invitation is
 * used.
 */
export interface Inviter {
  readonly personId: string;
  readonly as: 'owner' | 'operator';
}

/**
 * The state of a link. `suspended` means that a tenant of it is suspended, so it grants nothing yet. `unknown` means
 * that it has expired or never existed.
 */
export type InvitationState = 'open' | 'suspended' | 'used' | 'revoked' | 'unknown';

/** How long an invitation is valid, milliseconds. */
export const INVITATION_MS = 7 * 86_400_000;

/**
 * How long an accepted invitation can neither be withdrawn nor accepted again, milliseconds. This is more than it takes
 * to add its grants; afterwards the process that should have added them has ended.
 */
export const CLAIM_MS = 60_000;

/** The invited address, the grants, and the inviter. */
export type Invitee = Pick<Invitation, 'email' | 'grants' | 'invitedBy'>;

/**
 * Makes an invitation.
 * @returns the invitation; its token; and the token of the mail to its address, null without one. Tokens are not
 * stored. The second one proves that its holder has read the mail, so it must not be shown to anyone else
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

/** Returns the id of an invitation. @param token the token of a link, also of a mailed one */
export function invitationId(token: string): string {
  return hashOf(partsOf(token)[0]);
}

/**
 * Whether the token is the mailed one, so that its holder can read the invited address's mail; null if the token has a
 * second part that is wrong.
 */
export function isMailedToken(token: string, { proofHash }: Pick<Invitation, 'proofHash'>): boolean | null {
  const [, proof] = partsOf(token);
  if (proof === null) return false;
  return proofHash !== null && hashOf(proof) === proofHash ? true : null;
}

/** Splits a token into the part that a copied link has, and the part that only the mailed link has; null if absent. */
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

/**
 * Returns the URL of the page where an invitation is accepted. The token is in the fragment, which browsers do not
 * send.
 */
export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/join#${token}`;
}
