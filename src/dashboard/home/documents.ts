import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** The numbers of invoices of the last days, today first. */
export const DAYS = graphql(`
  query Days($days: Int!) {
    invoiceDays(days: $days) { date pending signing transmitted accepted rejected }
  }
`);

export type Day = ResultOf<typeof DAYS>['invoiceDays'][number];

/** The data of the home page: objects that may need attention, and the results of the first steps. */
export const HOME = graphql(`
  query Home {
    conditions { code count hasMore since subjects { id name since } }
    newest: invoices(first: 1) { nodes { id } }
    accepted: invoices(status: accepted, first: 1) { nodes { id } }
    delivered: webhookDeliveries(state: delivered, first: 1) { nodes { id } }
    webhookEndpoints { id }
    apiKeys { id kind revokedAt }
  }
`);

export type Home = ResultOf<typeof HOME>;

/**
 * The sums of this month so far, of the same days of the last month, of all of the last month, and of today and
 * yesterday.
 */
export const AMOUNTS = graphql(`
  query Amounts(
    $from: String!
    $today: String!
    $lastFrom: String!
    $lastSame: String!
    $lastThrough: String!
    $yesterday: String!
  ) {
    month: daySums(from: $from, through: $today) { ...Amounts }
    same: daySums(from: $lastFrom, through: $lastSame) { ...Amounts }
    last: daySums(from: $lastFrom, through: $lastThrough) { ...Amounts }
    recent: daySums(from: $yesterday, through: $today) { ...Amounts }
  }
  fragment Amounts on SummedDays {
    invoices { ...AmountsByStatus }
    creditNotes { ...AmountsByStatus }
  }
  fragment AmountsByStatus on PeriodKind {
    pending { ...Amount }
    signing { ...Amount }
    transmitted { ...Amount }
    accepted { ...Amount }
    rejected { ...Amount }
  }
  fragment Amount on PeriodSums { count net tax total }
`);

export type Amounts = ResultOf<typeof AMOUNTS>;
