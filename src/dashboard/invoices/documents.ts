import type { ResultOf, VariablesOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** A page of a tenant's invoices. */
export const INVOICES = graphql(`
  query Invoices(
    $status: InvoiceStatus
    $createdAfter: DateTime
    $createdBefore: DateTime
    $first: Int
    $after: String
    $last: Int
    $before: String
  ) {
    invoices(
      status: $status
      createdAfter: $createdAfter
      createdBefore: $createdBefore
      first: $first
      after: $after
      last: $last
      before: $before
    ) {
      nodes { id number amount currency status createdAt customer { name } attention { reason } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export type ListedInvoice = ResultOf<typeof INVOICES>['invoices']['nodes'][number];
export type InvoicesVariables = VariablesOf<typeof INVOICES>;

/** What a member of the tenant sees of an invoice. */
export const MEMBER_INVOICE = graphql(`
  query MemberInvoice($id: ID!) {
    invoice(id: $id) {
      id
      environment
      number
      amount
      currency
      status
      createdAt
      dgiId
      rejectionReason
      problems { message }
      customer { name ice }
      terms { dueDate operationDate paymentMode }
      totals { subtotal taxTotals { rate base tax } }
      roundingAmount
      timeline { status at eventId }
      documents { pdf { url } xml { url } }
      lines { description quantity unitPrice taxRate amount }
      email { status to attempts sentAt lastError }
      attention { reason message since nextAttemptAt }
      authorityAttempts { at purpose outcome milliseconds message }
      deliveries { id eventType state createdAt nextAttemptAt endpoint { url } attempts { at status errorMessage latencyMs } }
    }
  }
`);

export type MemberInvoice = ResultOf<typeof MEMBER_INVOICE>['invoice'];
