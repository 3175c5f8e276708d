import type { ResultOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** The fields of an invoice or credit note that its client_secret shows. */
export const DOCUMENT = graphql(`
  query CustomerDocument($id: ID!) {
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
        lines { description quantity unit unitPrice taxIncluded discount { amount percent reason } taxRate amount }
        totals { linesTotal discountTotal chargeTotal depositsTotal subtotal total taxTotals { rate tax } }
        timeline { status at eventId }
        documents { pdf { url } xml { url } }
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

/** An invoice or a credit note, as its page shows it. Only an invoice has `terms`, only a credit note a `reason`. */
export type Invoice = Extract<NonNullable<ResultOf<typeof DOCUMENT>['document']>, { readonly amount: unknown }>;
