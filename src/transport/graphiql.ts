import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { GraphiQLOptions } from 'graphql-yoga';
import type { Middleware } from 'koa';
import { isUnchanged, weakEtag } from './headers.ts';

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

/** The page brings all its scripts in itself, and starts its workers from them: nothing is fetched from elsewhere, nobody may frame it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' blob:",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Page {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

async function makePage(): Promise<Page> {
  const plain = Buffer.from(renderGraphiQL(GRAPHIQL).trim());
  return {
    plain,
    gzipped: await promisify(gzip)(plain),
    etag: weakEtag(plain),
  };
}

/** Answers with the page, 9 MB that are rendered and compressed when the first one asks: anybody may, without a credential. */
export function showGraphiql(): Middleware {
  let page: Promise<Page> | undefined;
  return async (ctx) => {
    page ??= makePage();
    const { plain, gzipped, etag } = await page;
    ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    ctx.set('Cache-Control', 'no-cache');
    ctx.vary('Accept');
    ctx.vary('Accept-Encoding');
    if (isUnchanged(ctx, etag)) return;
    ctx.status = 200;
    ctx.type = 'text/html; charset=utf-8';
    const compressed = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (compressed) ctx.set('Content-Encoding', 'gzip');
    ctx.body = compressed ? gzipped : plain;
  };
}
