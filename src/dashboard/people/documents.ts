import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

export const MEMBERS = graphql(`
  query Members {
    members { id name email addressConfirmed role current }
  }
`);

export type Member = ResultOf<typeof MEMBERS>['members'][number];
export type Role = Member['role'];

export const INVITE = graphql(`
  mutation InviteMember($role: MemberRole!, $email: String) {
    result: inviteMember(role: $role, email: $email) {
      ... on InviteMemberPayload { link }
      ... on Error { code message }
    }
  }
`);

export const INVITATIONS = graphql(`
  query Invitations {
    invitations { id email role expiresAt }
  }
`);

export const REVOKE_INVITATION = graphql(`
  mutation RevokeInvitation($id: ID!) {
    result: revokeInvitation(id: $id) {
      ... on RevokeInvitationPayload { id }
      ... on Error { code message }
    }
  }
`);

export const SET_ROLE = graphql(`
  mutation SetMemberRole($id: ID!, $role: MemberRole!) {
    result: setMemberRole(id: $id, role: $role) {
      ... on SetMemberRolePayload { member { id } }
      ... on Error { code message }
    }
  }
`);

export const REMOVE = graphql(`
  mutation RemoveMember($id: ID!) {
    result: removeMember(id: $id) {
      ... on RemoveMemberPayload { id }
      ... on Error { code message }
    }
  }
`);
