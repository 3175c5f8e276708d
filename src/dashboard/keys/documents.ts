import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

export const KEYS = graphql(`
  query Keys {
    apiKeys { id kind name lastFour createdAt revokedAt lastUsedAt }
  }
`);

export type Key = ResultOf<typeof KEYS>['apiKeys'][number];

export const CREATE_KEY = graphql(`
  mutation CreateKey($kind: ApiKeyKind!, $name: String) {
    result: createApiKey(kind: $kind, name: $name) {
      ... on CreateApiKeyPayload { token apiKey { id kind } }
      ... on Error { code message }
    }
  }
`);

export const RENAME_KEY = graphql(`
  mutation RenameKey($id: ID!, $name: String) {
    result: renameApiKey(id: $id, name: $name) {
      ... on RenameApiKeyPayload { apiKey { id } }
      ... on Error { code message }
    }
  }
`);

export const ROTATE_KEY = graphql(`
  mutation RotateKey($id: ID!) {
    result: rotateApiKey(id: $id) {
      ... on RotateApiKeyPayload { token apiKey { id kind } }
      ... on Error { code message }
    }
  }
`);

export const REVOKE_KEY = graphql(`
  mutation RevokeKey($id: ID!) {
    result: revokeApiKey(id: $id) {
      ... on RevokeApiKeyPayload { apiKey { id } }
      ... on Error { code message }
    }
  }
`);
