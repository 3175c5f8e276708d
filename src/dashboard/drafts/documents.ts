import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** A page of drafts. */
export const DRAFTS = graphql(`
  query Drafts($first: Int, $last: Int, $after: String, $before: String) {
    drafts(first: $first, last: $last, after: $after, before: $before) {
      nodes { id content updatedAt updatedBy { name } validation { valid totals { total } } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export type ListedDraft = ResultOf<typeof DRAFTS>['drafts']['nodes'][number];

export const DRAFT = graphql(`
  query Draft($id: ID!) {
    draft(id: $id) {
      id
      version
      content
      updatedAt
      validation {
        valid
        problems { code message param expected }
        warnings { code path }
        totals { linesTotal discountTotal chargeTotal depositsTotal subtotal total taxTotals { rate tax } }
      }
    }
  }
`);

export type Draft = ResultOf<typeof DRAFT>['draft'];

export const CREATE_DRAFT = graphql(`
  mutation CreateDraft($content: DraftContent!) {
    result: createDraft(content: $content) {
      ... on CreateDraftPayload { draft { id } }
      ... on Error { code message }
    }
  }
`);

export const UPDATE_DRAFT = graphql(`
  mutation UpdateDraft($id: ID!, $version: Int!, $content: DraftContent!) {
    result: updateDraft(id: $id, version: $version, content: $content) {
      ... on UpdateDraftPayload {
        draft {
          version
          updatedAt
          validation {
            valid
            problems { code message param expected }
            warnings { code path }
            totals { linesTotal discountTotal chargeTotal depositsTotal subtotal total taxTotals { rate tax } }
          }
        }
      }
      ... on Error { code message }
    }
  }
`);

export const DELETE_DRAFT = graphql(`
  mutation DeleteDraft($id: ID!, $version: Int!) {
    result: deleteDraft(id: $id, version: $version) {
      ... on DeleteDraftPayload { id }
      ... on Error { code message }
    }
  }
`);

export const ISSUE_DRAFT = graphql(`
  mutation IssueDraft($id: ID!, $version: Int!) {
    result: issueDraft(id: $id, version: $version) {
      ... on IssueDraftPayload { invoice { id } }
      ... on Error { code message }
    }
  }
`);

export const DRAFT_PREVIEW = graphql(`
  query DraftPreview($id: ID!) {
    draftPreview(id: $id)
  }
`);
