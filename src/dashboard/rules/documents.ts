import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** The rules that apply on a day, and those to come. */
export const RULES = graphql(`
  query Rules($date: String!, $language: DocumentLanguage!) {
    rules(date: $date) {
      code status level article source readOn validFrom validUntil
      says(language: $language)
      doubt(language: $language)
    }
  }
`);

export type LegalRule = ResultOf<typeof RULES>['rules'][number];
