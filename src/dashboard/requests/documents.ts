import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** A page of the requests with API keys. */
export const REQUESTS = graphql(`
  query Requests($failed: Boolean, $kind: String, $apiKeyId: ID, $route: String, $first: Int, $after: String, $last: Int, $before: String) {
    apiRequests(failed: $failed, kind: $kind, apiKeyId: $apiKeyId, route: $route, first: $first, after: $after, last: $last, before: $before) {
      nodes { id at method route operation status milliseconds code apiKeyId documentId invoice { number } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export type ApiRequest = ResultOf<typeof REQUESTS>['apiRequests']['nodes'][number];

export const REQUEST = graphql(`
  query Request($id: ID!) {
    apiRequest(id: $id) {
      id at method route operation status milliseconds code param apiKeyId standsFor documentId invoice { number }
    }
  }
`);

export const FAILURES = graphql(`
  query Failures {
    apiRequestFailures { kind method route status code count lastAt }
  }
`);

export type Failures = ResultOf<typeof FAILURES>['apiRequestFailures'][number];
