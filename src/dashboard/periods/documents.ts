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
