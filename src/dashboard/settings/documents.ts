import type { ResultOf, VariablesOf } from 'gql.tada';
import { graphql } from '../graphql/graphql.ts';

/** The seller's profile, and what is missing for live keys. */
export const SETTINGS = graphql(`
  query Settings {
    tenant {
      missingForLive { condition }
      seller {
        legalName legalForm capital ice taxId tradeRegister professionalTax cnss email
        address { street city postalCode }
        paymentMode paymentMeans paymentTermDays bankAccount operationDateIsIssueDate exemptionReason documentLanguage
        logo { sha256 }
        missingFields
      }
    }
  }
`);

export type Tenant = ResultOf<typeof SETTINGS>['tenant'];
export type Seller = Tenant['seller'];

export const UPDATE_PROFILE = graphql(`
  mutation UpdateProfile($input: SellerProfileInput!) {
    result: updateSellerProfile(input: $input) {
      ... on UpdateSellerProfilePayload { tenant { id } }
      ... on Error { code message }
    }
  }
`);

/** The PDF of a sample invoice with a change of the profile, as a data URL. */
export const PREVIEW = graphql(`
  query Preview($input: SellerProfileInput!) {
    sellerProfilePreview(input: $input)
  }
`);

export type ProfileChange = VariablesOf<typeof UPDATE_PROFILE>['input'];
export type PaymentMeans = NonNullable<Seller['paymentMeans']>;
