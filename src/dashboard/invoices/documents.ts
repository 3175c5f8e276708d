import type { ResultOf, VariablesOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** A page of a tenant's invoices and credit notes. */
export const DOCUMENTS = graphql(`
  query Documents(
    $kind: FiscalDocumentKind
    $sort: FiscalDocumentSort
    $status: InvoiceStatus
    $search: String
    $createdAfter: DateTime
    $createdBefore: DateTime
    $first: Int
    $after: String
    $last: Int
    $before: String
  ) {
    fiscalDocuments(
      kind: $kind
      sort: $sort
      status: $status
      search: $search
      createdAfter: $createdAfter
      createdBefore: $createdBefore
      first: $first
      after: $after
      last: $last
      before: $before
    ) {
      nodes {
        id number amount currency status createdAt dgiId
        customer { name ice }
        attention { reason }
        ... on Invoice { terms { dueDate } references { order } }
      }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export type ListedDocument = ResultOf<typeof DOCUMENTS>['fiscalDocuments']['nodes'][number];
export type DocumentsVariables = VariablesOf<typeof DOCUMENTS>;

/** The totals of the documents that the list is restricted to. */
export const TOTALS = graphql(`
  query Totals($kind: FiscalDocumentKind, $status: InvoiceStatus, $search: String, $from: String, $through: String) {
    fiscalDocumentTotals(kind: $kind, status: $status, search: $search, from: $from, through: $through) {
      count net tax total hasMore
    }
  }
`);

/** The fields of an invoice or credit note that a member of its tenant sees. */
export const MEMBER_DOCUMENT = graphql(`
  query MemberDocument($id: ID!) {
    document: node(id: $id) {
      ... on FiscalDocument {
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
        sellerName
        customerUrl
        totals { linesTotal discountTotal chargeTotal depositsTotal subtotal total taxTotals { rate tax } }
        timeline { status at eventId }
        documents { pdf { url } xml { url } }
        lines { description quantity unit unitPrice taxIncluded discount { amount percent reason } taxRate amount }
        email { status to attempts sentAt lastError }
        attention { reason message since nextAttemptAt }
        authorityAttempts { at purpose outcome milliseconds message }
        deliveries { id eventType state createdAt nextAttemptAt endpoint { url } attempts { at status errorMessage latencyMs } }
      }
      ... on Invoice {
        terms { dueDate operationDate paymentMode }
        netToPay
        stampDuty
        withholding { percent amount certificate { number date } }
        replaces { id number }
        discount { percent reason }
        charge { percent reason }
        isDeposit
        deposits { id number amount }
        deductedIn { id number }
        references { order contract }
        servicePeriod { from to }
        foreignValue { currency amount rate rateDate }
        acceptedCredit { amount lastDate }
      }
      ... on CreditNote { reason note invoice { id number } }
    }
  }
`);

/** An invoice or a credit note, as the people of its tenant see it. */
export type MemberDocument = Extract<
  NonNullable<ResultOf<typeof MEMBER_DOCUMENT>['document']>,
  { readonly amount: unknown }
>;

/** The id of the invoice or credit note with a given number; an error if there is none. */
export const BY_NUMBER = graphql(`
  query ByNumber($number: String!) {
    fiscalDocumentByNumber(number: $number) { id }
  }
`);

/** A page of the invoices and credit notes in an export. */
export const EXPORTED = graphql(`
  query Exported(
    $kind: FiscalDocumentKind
    $status: InvoiceStatus
    $search: String
    $createdAfter: DateTime
    $createdBefore: DateTime
    $after: String
  ) {
    fiscalDocuments(
      kind: $kind
      status: $status
      search: $search
      createdAfter: $createdAfter
      createdBefore: $createdBefore
      first: 100
      after: $after
    ) {
      nodes {
        id number status createdAt amount currency dgiId
        customer { name ice country taxNumber }
        totals { subtotal taxTotal total }
        ... on Invoice { isDeposit netToPay }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

export type ExportedDocument = ResultOf<typeof EXPORTED>['fiscalDocuments']['nodes'][number];
