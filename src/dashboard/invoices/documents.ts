import type { ResultOf, VariablesOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** A page of a tenant's invoices. */
export const INVOICES = graphql(`
  query Invoices(
    $status: InvoiceStatus
    $customerName: String
    $customerIce: String
    $amount: Centimes
    $createdAfter: DateTime
    $createdBefore: DateTime
    $first: Int
    $after: String
    $last: Int
    $before: String
  ) {
    invoices(
      status: $status
      customerName: $customerName
      customerIce: $customerIce
      amount: $amount
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

/** The fields of an invoice that a member of its tenant sees. */
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
      totals { subtotal total taxTotals { rate base tax } }
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

/** The customers whose name or ICE begins with a text. */
export const CUSTOMERS = graphql(`
  query Customers($beginning: String!) {
    customers(beginning: $beginning) { name ice }
  }
`);

export type KnownCustomer = ResultOf<typeof CUSTOMERS>['customers'][number];

/** The id of the invoice with a given number; an error if there is none. */
export const BY_NUMBER = graphql(`
  query ByNumber($number: String!) {
    invoiceByNumber(number: $number) { id }
  }
`);

/** A page of the invoices in an export. */
export const EXPORTED = graphql(`
  query Exported(
    $status: InvoiceStatus
    $customerName: String
    $customerIce: String
    $amount: Centimes
    $createdAfter: DateTime
    $createdBefore: DateTime
    $after: String
  ) {
    invoices(
      status: $status
      customerName: $customerName
      customerIce: $customerIce
      amount: $amount
      createdAfter: $createdAfter
      createdBefore: $createdBefore
      first: 100
      after: $after
    ) {
      nodes {
        id number status createdAt amount currency dgiId
        customer { name ice }
        totals { subtotal taxTotal total }
        roundingAmount
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

export type ExportedInvoice = ResultOf<typeof EXPORTED>['invoices']['nodes'][number];
