import { type Audit, entryBy } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import { MAX_INVITATIONS, MAX_MEMBERS } from '../limits.ts';
import { type PersonPrincipal, type Principal, requirePerson } from '../principal.ts';
import { isAccountAddress } from './account-input.ts';
import { INVITATION_MS } from './invitation.ts';
import { invite } from './invite.ts';
import type { Member, Role } from './person.ts';
import type { AttemptLimiter, InvitationMail, PeopleRepository } from './ports.ts';

/** An invitation that was made. */
export interface Invited {
  /** The link with the token, which only this answer shows. */
  readonly link: string;
  /** UTC. */
  readonly expiresAt: Date;
}

/** An invitation that has not been accepted yet. */
export interface OpenInvitation {
  /** An id that does not reveal the link. */
  readonly id: string;
  /** The only address that may use it; null if any holder of the link may. */
  readonly email: string | null;
  readonly role: Role;
  /** UTC. */
  readonly expiresAt: Date;
}

/**
 * Manages the people of a tenant, in both environments. API keys cannot do this, so that a leaked key cannot make its
 * finder an owner. Every method throws insufficient_scope (403) to callers who are not people with the role.
 */
export interface ManageMembers {
  /** Lists the members by name. Members of any role may call it. */
  list(principal: Principal): Promise<Member[]>;
  /**
   * Invites a person. For owners.
   * @throws {ServiceError} invalid_request; member_limit_reached; rate_limit_exceeded
   * @param email gets a mail with a link of its own, which also confirms the address; only an account with this address
   * can then use either link. Null: any holder of the link can use it
   */
  invite(principal: Principal, role: Role, email: string | null): Promise<Invited>;
  /** Lists the invitations that have not been accepted yet, in the order of their end. For owners. */
  invitations(principal: Principal): Promise<OpenInvitation[]>;
  /** Withdraws an invitation. For owners. @returns its id @throws {ServiceError} resource_not_found */
  revokeInvitation(principal: Principal, id: string): Promise<string>;
  /** Changes a member's role. For owners. @throws {ServiceError} resource_not_found; last_owner */
  setRole(principal: Principal, personId: string, role: Role): Promise<Member>;
  /**
   * Removes a member. For owners, and for every member to leave. The person's requests are refused at once; their
   * streams end within seconds.
   * @returns the person's id
   * @throws {ServiceError} resource_not_found; last_owner
   */
  remove(principal: Principal, personId: string): Promise<string>;
}

export interface ManageMembersParts {
  readonly people: Pick<
    PeopleRepository,
    'membersOf' | 'memberOf' | 'insertInvitation' | 'changeRole' | 'invitationsOf' | 'revokeInvitation'
  >;
  readonly audit: Audit;
  /** The service's address. */
  readonly publicUrl: string;
  /** Limits the invitations of a tenant, because they send mail to any address. */
  readonly attempts: AttemptLimiter;
  /** Sends the mail. Not awaited, because the answer contains a link, too. Never throws. */
  readonly sendInvitation: (mail: InvitationMail) => void;
}

export function createManageMembers({
  people,
  attempts,
  audit,
  publicUrl,
  sendInvitation,
}: ManageMembersParts): ManageMembers {
  async function found(tenantId: string, personId: string): Promise<Member> {
    const member = await people.memberOf(tenantId, personId);
    if (member) return member;
    throw serviceError('resource_not_found', 'Nobody with this id belongs to this tenant.', 'id');
  }

  /** Changes a role. @param role null removes the person */
  async function change(owner: PersonPrincipal, personId: string, role: Role | null): Promise<Member> {
    const { tenant } = owner;
    const before = await found(tenant.id, personId);
    if (before.role === role) return before;
    if (!(await people.changeRole(personId, tenant.id, role))) {
      throw serviceError(
        'last_owner',
        `${before.person.name} is the last owner of the tenant. Make somebody else an owner first.`,
        'id',
      );
    }
    const details = { name: before.person.name, was: before.role, ...(role && { role }) };
    await audit(
      entryBy(owner, role === null ? 'member.removed' : 'member.role_changed', { subject: personId, details }),
    );
    return { ...before, role: role ?? before.role };
  }

  return {
    async list(principal) {
      return people.membersOf(requirePerson(principal, 'viewer', 'read').tenant.id);
    },
    async invite(principal, role, email) {
      const owner = requirePerson(principal, 'owner', 'change');
      const { tenant } = owner;
      if (email !== null && !isAccountAddress(email)) {
        throw serviceError(
          'invalid_request',
          "email must be an e-mail address of letters, digits and the signs . _ + - '.",
          'email',
        );
      }
      if ((await people.membersOf(tenant.id)).length >= MAX_MEMBERS) {
        throw serviceError(
          'member_limit_reached',
          `There are already ${MAX_MEMBERS} people in this tenant, which is the maximum.`,
        );
      }
      const wait = await attempts.attempt('account', `invitations of ${tenant.id}`);
      if (wait > 0)
        throw serviceError(
          'rate_limit_exceeded',
          `Too many invitations. Try again in ${Math.ceil(wait / 60_000)} min.`,
        );
      const memberships = [{ tenantId: tenant.id, role }];
      const expiresAt = new Date(Date.now() + INVITATION_MS);
      const { link, mailedLink } = await invite(
        people,
        { email, grants: { isOperator: false, memberships }, invitedBy: { personId: owner.personId, as: 'owner' } },
        publicUrl,
      );
      await audit(entryBy(owner, 'member.invited', { subject: null, details: { role } }));
      if (email !== null && mailedLink !== null)
        sendInvitation({ to: email, url: mailedLink, tenantName: tenant.name });
      return { link, expiresAt };
    },
    async invitations(principal) {
      const { tenant } = requirePerson(principal, 'owner', 'read');
      const found = await people.invitationsOf(tenant.id, MAX_INVITATIONS, new Date());
      return found.flatMap(({ id, email, grants, expiresAt }) => {
        const role = grants.memberships.find(({ tenantId }) => tenantId === tenant.id)?.role;
        return role ? [{ id, email, role, expiresAt }] : [];
      });
    },
    async revokeInvitation(principal, id) {
      const owner = requirePerson(principal, 'owner', 'change');
      if (!/^[0-9a-f]{64}$/.test(id) || !(await people.revokeInvitation(owner.tenant.id, id, new Date())))
        throw serviceError('resource_not_found', 'There is no open invitation with this id.', 'id');
      await audit(entryBy(owner, 'member.invitation_revoked', { subject: null }));
      return id;
    },
    async setRole(principal, personId, role) {
      return change(requirePerson(principal, 'owner', 'change'), personId, role);
    },
    async remove(principal, personId) {
      const isSelf = principal.kind === 'person' && principal.personId === personId;
      return (await change(requirePerson(principal, isSelf ? 'viewer' : 'owner', 'change'), personId, null)).person.id;
    },
  };
}
