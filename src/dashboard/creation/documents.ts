import type { VariablesOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** The customers that trigger a certain outcome in the test environment. */
export const SCENARIOS = graphql(`
  query Scenarios {
    testScenarios { ice name }
  }
`);

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
