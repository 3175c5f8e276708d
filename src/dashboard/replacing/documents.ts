import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** Which invoice replaces an invoice. */
export const REPLACING = graphql(`
  query Replacing($id: ID!) {
    invoice(id: $id) {
      status
      replacedBy { id number status }
    }
  }
`);

/** An invoice to correct, with what the form does not show. */
export const REPLACEABLE = graphql(`
  query Replaceable($id: ID!) {
    invoice(id: $id) {
      status
      number
      rejectionReason
      problems { path message }
      customer { kind ice name email address country taxNumber }
      lines { description quantity unit unitPrice taxIncluded discount { amount percent reason } taxRate exemption { code certificate { number date } } }
      discount { amount percent taxIncluded reason }
      charge { amount percent taxIncluded reason }
      isDeposit
      deposits { id number amount taxTotals { rate base tax } }
      references { order contract }
      servicePeriod { from to }
      foreignValue { currency amount rate rateDate }
      withholding { percent certificate { number date } }
      terms { operationDate dueDate paymentMode paymentMeans bankAccount }
      metadata
      replacedBy { id }
    }
  }
`);

export type Replaceable = ResultOf<typeof REPLACEABLE>['invoice'];

export const REPLACE_INVOICE = graphql(`
  mutation ReplaceInvoice($id: ID!, $input: CreateInvoiceInput!, $reason: CreditReason!, $note: String, $key: String!) {
    result: replaceInvoice(invoiceId: $id, input: $input, reason: $reason, note: $note, idempotencyKey: $key) {
      ... on ReplaceInvoicePayload { invoice { id } }
      ... on Error { code message }
      ... on InvalidInputError { problems { code message param expected } }
    }
  }
`);
