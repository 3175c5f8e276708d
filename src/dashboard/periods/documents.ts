import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** The sums of a period beside those of the one before. */
export const PERIOD = graphql(`
  query Period($period: String!) {
    period(period: $period) {
      period {
        name from through
        invoices { ...Statuses }
        creditNotes { ...Statuses }
      }
      before {
        name from through
        invoices { ...Statuses }
        creditNotes { ...Statuses }
      }
    }
  }
  fragment Statuses on PeriodKind {
    pending { ...Summed }
    signing { ...Summed }
    transmitted { ...Summed }
    accepted { ...Summed }
    rejected { ...Summed }
  }
  fragment Summed on PeriodSums { count net tax total rates { rate net tax } }
`);

export type PeriodReport = ResultOf<typeof PERIOD>['period'];

/** A page of the ledger of numbers of a period. */
export const NUMBERS = graphql(`
  query Numbers($period: String!, $first: Int, $after: String, $last: Int, $before: String) {
    periodNumbers(period: $period, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id number fate creditNotes
        document { id issueDate status customerName amount currency originalId originalNumber }
        replacedBy { id number }
        creditedBy { id number }
      }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export type NumberEntry = ResultOf<typeof NUMBERS>['periodNumbers']['nodes'][number];

/** The first and the last number of each series in a period. */
export const SERIES = graphql(`
  query Series($period: String!) {
    periodSeries(period: $period) { series first last count lost { number through } }
  }
`);

export type SeriesOfPeriod = ResultOf<typeof SERIES>['periodSeries'][number];
