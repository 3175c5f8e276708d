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
  query Home($lateSince: DateTime!) {
    rejected: invoices(status: rejected, first: 5) { nodes { ...Shown } }
    pending: invoices(status: pending, createdBefore: $lateSince, first: 3) { nodes { ...Shown } }
    signing: invoices(status: signing, createdBefore: $lateSince, first: 3) { nodes { ...Shown } }
    transmitted: invoices(status: transmitted, createdBefore: $lateSince, first: 3) { nodes { ...Shown } }
    newest: invoices(first: 1) { nodes { id } }
    accepted: invoices(status: accepted, first: 1) { nodes { id } }
    delivered: webhookDeliveries(state: delivered, first: 1) { nodes { id } }
    webhookEndpoints { id url active failing failingSince }
    apiKeys { id kind revokedAt }
    tenant { signingCertificate { subject validTo } }
  }
  fragment Shown on Invoice { id number status createdAt rejectionReason customer { name } }
`);

export type Home = ResultOf<typeof HOME>;
export type ShownInvoice = Home['rejected']['nodes'][number];
