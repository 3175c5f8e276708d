import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** A page of the audit log. */
export const AUDIT_LOG = graphql(`
  query AuditLog($actorId: ID, $subject: ID, $first: Int, $after: String, $last: Int, $before: String) {
    auditLog(actorId: $actorId, subject: $subject, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id at action environment subject address userAgent requestId
        actor { kind actorId name }
        details { name value }
      }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export type AuditEntry = ResultOf<typeof AUDIT_LOG>['auditLog']['nodes'][number];
