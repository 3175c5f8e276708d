import type { ResultOf, VariablesOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** The customers that trigger a certain outcome in the test environment. */
export const SCENARIOS = graphql(`
  query Scenarios {
    testScenarios { ice name }
  }
`);

/** Customers of earlier invoices, with all that a new invoice states of them. */
export const KNOWN_CUSTOMERS = graphql(`
  query KnownCustomers($beginning: String!) {
    customers(beginning: $beginning) { kind ice name address email country taxNumber }
  }
`);

export type KnownCustomer = ResultOf<typeof KNOWN_CUSTOMERS>['customers'][number];

export const CREATE_INVOICE = graphql(`
  mutation CreateInvoice($input: CreateInvoiceInput!, $idempotencyKey: String!) {
    result: createInvoice(input: $input, idempotencyKey: $idempotencyKey) {
      ... on CreateInvoicePayload { invoice { id } }
      ... on Error { code message }
      ... on InvalidInputError { problems { code message param expected } }
    }
  }
`);

export type InvoiceInput = VariablesOf<typeof CREATE_INVOICE>['input'];

/** The newest invoices to a customer, among them its deposit invoices. */
export const CUSTOMER_DEPOSITS = graphql(`
  query CustomerDeposits($customerIce: String, $customerName: String, $after: String) {
    invoices(customerIce: $customerIce, customerName: $customerName, first: 100, after: $after) {
      nodes { id isDeposit status customer { kind } deductedIn { id } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** A deposit invoice, and the rest of it: nothing if it is deducted. */
export const DEPOSIT_LEFT = graphql(`
  query DepositLeft($id: ID!) {
    invoice(id: $id) { number createdAt }
    left: creditPreview(invoiceId: $id, input: { reason: other }) {
      amount
      taxTotals { rate base tax }
    }
  }
`);
