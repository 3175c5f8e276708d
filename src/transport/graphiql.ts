import type { GraphiQLOptions } from 'graphql-yoga';

/** What every tab begins with: without a credential nothing is answered, the schema neither. Browsers take Latin letters only. */
const HEADERS = JSON.stringify({ Authorization: 'Bearer sk_test_YOUR_KEY' }, null, 2);

const CREATE = `# Put a test key into the headers below,
# then press "Re-fetch GraphQL schema" at the left.
# Test keys never reach the tax authority.

mutation CreateInvoice {
  createInvoice(
    idempotencyKey: "order-4711"
    input: {
      amount: 12000
      currency: "MAD"
      customer: {
        ice: "001525713000097"
        name: "Atlas Distribution SARL"
        address: "12, rue des Orangers, Casablanca"
      }
      lines: [
        { description: "Conseil", quantity: 1, unitPrice: 10000 }
      ]
    }
  ) {
    ... on CreateInvoicePayload {
      clientSecret
      replayed
      invoice {
        id
        status
        totals { subtotal taxTotal total }
        warnings { path message }
      }
    }
    ... on Error {
      code
      param
      message
      ... on InvalidInputError {
        problems { param message }
      }
    }
  }
}
`;

const LIST = `query Invoices {
  invoices(first: 10) {
    nodes {
      id
      number
      status
      amount
      customer { name }
      timeline { status at }
      documents {
        pdf { url ready }
        xml { url }
      }
      deliveries {
        eventType
        state
        endpoint { url }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`;

const FOLLOW = `# Runs until you stop it:
# create an invoice in another window meanwhile.

subscription Events {
  invoiceEvents {
    cursor
    event {
      type
      createdAt
      invoice { id number status }
    }
  }
}
`;

/** What GraphiQL shows whoever comes for the first time. Headers are not kept: a key has no place in a browser's storage. */
export const GRAPHIQL: GraphiQLOptions = {
  title: 'Fatoura: GraphQL',
  defaultHeaders: HEADERS,
  headers: HEADERS,
  shouldPersistHeaders: false,
  defaultTabs: [CREATE, LIST, FOLLOW].map((query) => ({ query, headers: HEADERS })),
};
