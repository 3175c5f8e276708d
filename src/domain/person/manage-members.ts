import { serviceError } from '../errors.ts';
import { MAX_INVITATIONS, MAX_MEMBERS } from '../limits.ts';
import { type PersonPrincipal, requirePerson } from '../principal.ts';
import type { Call, Change, UseCase } from '../use-case.ts';
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

interface MemberNeeds {
  readonly people: Pick<
    PeopleRepository,
    'membersOf' | 'memberOf' | 'insertInvitation' | 'changeRole' | 'invitationsOf' | 'revokeInvitation'
  >;
  /** The service's address. */
  readonly publicUrl: string;
  /** Limits the invitations of a tenant, because they send mail to any address. */
  readonly attempts: AttemptLimiter;
  /** Sends the mail. Not awaited, because the answer contains a link, too. Never throws. */
  readonly sendInvitation: (mail: InvitationMail) => void;
}

type PersonChange = Change<PersonPrincipal>;

/**
 * Manages the people of a tenant, in both environments. API keys cannot do this, so that a leaked key cannot make its
 * finder an owner.
 */
export const MEMBER_USE_CASES = {
  /** Lists the members by name. */
  members: {
    person: 'viewer',
    run: ({ people }: MemberNeeds, { by }: Call<PersonPrincipal>): Promise<Member[]> => people.membersOf(by.tenant.id),
  },

  /**
   * Invites a person.
   * @throws {ServiceError} invalid_request; member_limit_reached; rate_limit_exceeded
   * @param email gets a mail with a link of its own, which also confirms the address; only an account with this address
   * can then use either link. Null: any holder of the link can use it
   */
  inviteMember: {
    person: 'owner',
    audit: 'member.invited',
    async run(
      { people, attempts, publicUrl, sendInvitation }: MemberNeeds,
      { by: owner, record }: PersonChange,
      role: Role,
      email: string | null,
    ): Promise<Invited> {
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
      await record({ subject: null, details: { role } });
      if (email !== null && mailedLink !== null)
        sendInvitation({ to: email, url: mailedLink, tenantName: tenant.name });
      return { link, expiresAt };
    },
  },

  /** Lists the invitations that have not been accepted yet, in the order of their end. */
  invitations: {
    person: 'owner',
    async run({ people }: MemberNeeds, { by: { tenant } }: Call<PersonPrincipal>): Promise<OpenInvitation[]> {
      const found = await people.invitationsOf(tenant.id, MAX_INVITATIONS, new Date());
      return found.flatMap(({ id, email, grants, expiresAt }) => {
        const role = grants.memberships.find(({ tenantId }) => tenantId === tenant.id)?.role;
        return role ? [{ id, email, role, expiresAt }] : [];
      });
    },
  },

  /** Withdraws an invitation. @returns its id @throws {ServiceError} resource_not_found */
  revokeInvitation: {
    person: 'owner',
    audit: { action: 'member.invitation_revoked', description: 'An invitation was withdrawn.', both: true },
    async run({ people }: MemberNeeds, { by, record }: PersonChange, id: string): Promise<string> {
      if (!/^[0-9a-f]{64}$/.test(id) || !(await people.revokeInvitation(by.tenant.id, id, new Date())))
        throw serviceError('resource_not_found', 'There is no open invitation with this id.', 'id');
      await record({ subject: null });
      return id;
    },
  },

  /** Changes a member's role. @throws {ServiceError} resource_not_found; last_owner */
  setMemberRole: {
    person: 'owner',
    audit: { action: 'member.role_changed', description: 'A person got another role.', both: true },
    run: (needs: MemberNeeds, call: PersonChange, personId: string, role: Role): Promise<Member> =>
      change(needs, call, personId, role),
  },

  /**
   * Removes a member. For owners, and for every member to leave. The person's requests are refused at once; their
   * streams end within seconds.
   * @returns the person's id
   * @throws {ServiceError} insufficient_scope; resource_not_found; last_owner
   */
  removeMember: {
    person: 'viewer',
    audit: 'member.removed',
    async run(needs: MemberNeeds, call: PersonChange, personId: string): Promise<string> {
      if (call.by.personId !== personId) requirePerson(call.by, 'owner', 'change');
      return (await change(needs, call, personId, null)).person.id;
    },
  },
} as const satisfies Readonly<Record<string, UseCase>>;

/** Changes a role. @param role null removes the person */
async function change(
  { people }: MemberNeeds,
  { by: { tenant }, record }: PersonChange,
  personId: string,
  role: Role | null,
): Promise<Member> {
  const before = await people.memberOf(tenant.id, personId);
  if (!before) throw serviceError('resource_not_found', 'Nobody with this id belongs to this tenant.', 'id');
  if (before.role === role) return before;
  if (!(await people.changeRole(personId, tenant.id, role))) {
    throw serviceError(
      'last_owner',
      `${before.person.name} is the last owner of the tenant. Make somebody else an owner first.`,
      'id',
    );
  }
  const details = { name: before.person.name, was: before.role, ...(role && { role }) };
  await record({ subject: personId, details });
  return { ...before, role: role ?? before.role };
}
