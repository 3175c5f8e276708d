import type { ResultOf, VariablesOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** The credited amounts of an invoice, and its newest credit notes. */
export const CREDITS = graphql(`
  query Credits($id: ID!, $first: Int!) {
    invoice(id: $id) {
      creditedAmount
      creditNotes(first: $first) { nodes { id number status amount } pageInfo { hasNextPage } }
    }
  }
`);

/** An accepted invoice, and the rest of it. */
export const CREDITABLE = graphql(`
  query Creditable($id: ID!) {
    invoice(id: $id) {
      status
      number
      amount
      creditedAmount
      customer { name }
      lines { description quantity unit unitPrice taxIncluded taxRate }
    }
    left: creditPreview(invoiceId: $id, input: { reason: other }) {
      amount
      taxTotals { rate base }
    }
  }
`);

export type Creditable = ResultOf<typeof CREDITABLE>;

/** The share that a credit note would credit now. */
export const CREDIT_PREVIEW = graphql(`
  query Preview($id: ID!, $input: CreditInvoiceInput!) {
    creditPreview(invoiceId: $id, input: $input) {
      amount
      taxTotals { rate base tax }
      problems { code param message }
    }
  }
`);

export type CreditPreview = ResultOf<typeof CREDIT_PREVIEW>['creditPreview'];
export type Fault = CreditPreview['problems'][number];

export const CREDIT_INVOICE = graphql(`
  mutation CreditInvoice($id: ID!, $input: CreditInvoiceInput!, $key: String!) {
    result: creditInvoice(invoiceId: $id, input: $input, idempotencyKey: $key) {
      ... on CreditInvoicePayload { creditNote { id } }
      ... on Error { code param message }
    }
  }
`);

export type CreditInput = VariablesOf<typeof CREDIT_INVOICE>['input'];
