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
