import { MAX_INVITATIONS, MAX_MEMBERS } from '../../domain/limits.ts';
import type { Invited, OpenInvitation } from '../../domain/person/manage-members.ts';
import type { Member, Role } from '../../domain/person/person.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf } from '../payload.ts';
import { InvalidInputError, LimitReachedError, NotFoundError } from './errors.ts';
import './scalars.ts';

const MEANING: Readonly<Record<Role, string>> = {
  viewer: 'Sees everything and changes nothing.',
  biller:
    'Sees everything, and works with invoices and credit notes; not with keys, endpoints, the seller’s profile or people.',
  developer:
    'Sees everything, and works with endpoints and deliveries, sends the mails of invoices again, and in the test environment works with invoices and keys.',
  owner: 'May do what a biller and a developer may, and works with live keys, the seller’s profile and people.',
};

const RoleType = enumOf('MemberRole', 'What a person may do in a tenant.', MEANING);

const MemberType = builder.objectRef<Member>('Member').implement({
  description: 'A person who belongs to the tenant.',
  fields: (t) => ({
    id: t.id({ description: 'Prefix `per_`.', resolve: ({ person }) => person.id }),
    name: t.string({ description: 'Name of the person.', resolve: ({ person }) => person.name }),
    email: t.string({ description: 'E-mail address, in lower case.', resolve: ({ person }) => person.email }),
    addressConfirmed: t.exposeBoolean('isConfirmed', {
      description: 'Whether a mail has shown that the address is the person’s. A copied link shows nothing of it.',
    }),
    role: t.expose('role', { type: RoleType, description: 'Role in both environments.' }),
    current: t.boolean({
      description: 'Whether this request is by the person.',
      resolve: ({ person }, _args, { principal }) => principal.kind === 'person' && principal.personId === person.id,
    }),
  }),
});

const InviteMemberPayload = builder.objectRef<Invited>('InviteMemberPayload').implement({
  description: 'An invitation.',
  fields: (t) => ({
    link: t.exposeString('link', {
      description:
        'The address where it is accepted, once. Shown in this answer only. It confirms no address: the mailed one does.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'End of its validity.' }),
  }),
});

const OpenInvitationType = builder.objectRef<OpenInvitation>('OpenInvitation').implement({
  description: 'An invitation that nobody has accepted yet.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id for `revokeInvitation`. It tells nothing of the link.' }),
    email: t.exposeString('email', {
      nullable: true,
      description: 'The address that can use it, in lower case; null: whoever has the link.',
    }),
    role: t.expose('role', { type: RoleType, description: 'Role of who accepts it.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'End of its validity.' }),
  }),
});

const ID = { required: true, description: 'Prefix `per_`.' } as const;

builder.queryField('members', (t) =>
  t.field({
    type: [MemberType],
    authScopes: accessOf('members'),
    description: `The people of the tenant, by name: at most ${MAX_MEMBERS}. For signed-in people.`,
    resolve: (_root, _args, { principal, useCases }) => useCases.members(principal),
  }),
);

builder.queryField('invitations', (t) =>
  t.field({
    type: [OpenInvitationType],
    authScopes: accessOf('invitations'),
    description: `The open invitations, those first that end first: at most ${MAX_INVITATIONS}. For owners.`,
    resolve: (_root, _args, { principal, useCases }) => useCases.invitations(principal),
  }),
);

builder.mutationFields((t) => ({
  revokeInvitation: t.field({
    type: builder.objectRef<string>('RevokeInvitationPayload').implement({
      description: 'The result of `revokeInvitation`.',
      fields: (f) => ({ id: f.id({ description: 'Id of the invitation.', resolve: (id) => id }) }),
    }),
    authScopes: accessOf('revokeInvitation'),
    errors: { types: [NotFoundError] },
    description: 'Withdraws an invitation: its link works no longer. For owners.',
    args: { id: t.arg.id({ required: true, description: 'Id of the invitation.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.revokeInvitation(principal, id),
  }),
  inviteMember: t.field({
    type: InviteMemberPayload,
    authScopes: accessOf('inviteMember'),
    errors: { types: [InvalidInputError, LimitReachedError] },
    description:
      'Invites somebody to the tenant. Who belongs to it already gets the role only if it includes their own. For owners.',
    args: {
      role: t.arg({ type: RoleType, required: true, description: 'Role of the person.' }),
      email: t.arg.string({
        description:
          'Gets a mail with a link of its own. Both links are for this address only, and the mailed one confirms it. Default: whoever has the link.',
      }),
    },
    resolve: (_root, { role, email }, { principal, useCases }) => useCases.inviteMember(principal, role, email ?? null),
  }),
  setMemberRole: t.field({
    type: payloadOf('setMemberRole', 'member', MemberType, 'The person with the new role.'),
    authScopes: accessOf('setMemberRole'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Changes the role of a person at once. The last owner stays one. For owners.',
    args: {
      id: t.arg.id(ID),
      role: t.arg({ type: RoleType, required: true, description: 'The new role.' }),
    },
    resolve: (_root, { id, role }, { principal, useCases }) => useCases.setMemberRole(principal, id, role),
  }),
  removeMember: t.field({
    type: builder.objectRef<string>('RemoveMemberPayload').implement({
      description: 'The result of `removeMember`.',
      fields: (f) => ({ id: f.id({ description: 'Id of the person.', resolve: (id) => id }) }),
    }),
    authScopes: accessOf('removeMember'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description:
      'Removes a person from the tenant at once. The last owner stays. For owners, and for everybody to leave.',
    args: { id: t.arg.id(ID) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.removeMember(principal, id),
  }),
}));
