import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** The fields of an invoice that its client_secret shows. */
export const INVOICE = graphql(`
  query CustomerInvoice($id: ID!) {
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
    }
  }
`);

export type Invoice = ResultOf<typeof INVOICE>['invoice'];
