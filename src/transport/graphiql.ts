import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { GraphiQLOptions } from 'graphql-yoga';
import type { Middleware } from 'koa';
import { isUnchanged, weakEtag } from './headers.ts';

const CREATE = `# Test keys never reach the tax authority.
# To use another credential, open the page anew.

mutation CreateInvoice {
  createInvoice(
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

/**
 * Options of GraphiQL, with its first tabs. Headers are not persisted, because keys must not be stored in the browser.
 */
export const GRAPHIQL: GraphiQLOptions = {
  title: 'Fatoura: GraphQL',
  shouldPersistHeaders: false,
  defaultTabs: [CREATE, LIST, FOLLOW].map((query) => ({ query })),
};

/** The form that asks for a key. GraphiQL starts afterwards, because even reading the schema needs a credential. */
const ASK = `<style>
  #ask { max-width: 34rem; margin: 12vh auto 0; padding: 0 24px; color: #1b2733; font: 16px/1.55 system-ui, sans-serif; }
  #ask h1 { margin: 0 0 8px; font-size: 24px; }
  #ask label { display: block; margin: 24px 0 6px; font-weight: 600; }
  #ask div { display: flex; gap: 8px; }
  #ask input { flex: 1; min-width: 0; padding: 9px 12px; border: 1px solid #8a99a6; border-radius: 6px; font: 15px ui-monospace, monospace; }
  #ask button { padding: 9px 18px; border: 0; border-radius: 6px; color: #fff; background: #0b5c43; font: inherit; cursor: pointer; }
  #ask button:disabled { opacity: .6; }
  #ask output { display: block; min-height: 1.6em; margin-top: 8px; }
  #ask code { font: 15px ui-monospace, monospace; }
  #ask small { display: block; margin-top: 24px; color: #5b6b7a; font-size: 14px; }
</style>
<form id="ask">
  <h1>Fatoura: GraphQL</h1>
  Here you can read the schema and try operations. Both need a key, or a session: the dashboard links to this page.
  <label for="key">Key</label>
  <div>
    <input id="key" placeholder="sk_test_…" autocomplete="off" autocapitalize="none" spellcheck="false" autofocus>
    <button>Open GraphiQL</button>
  </div>
  <output for="key" role="status"></output>
  <small>
    The service prints test keys at its first start; <code>npm run -s cli -- keys create --help</code> shows how to create others. With a
    test key nothing is sent to the tax authority. This page keeps the key in its memory only, until you close or reload it.
  </small>
</form>`;

/** Changes the page of the library so that GraphiQL starts once the form of {@link ASK} has a key. */
async function pageOf(rendered: string): Promise<string> {
  const script = await readFile(new URL('./graphiql-key.js', import.meta.url), 'utf8');
  const [root, start] = ['<div id="root"></div>', 'YogaGraphiQL.renderYogaGraphiQL('];
  const [rootAt, startAt] = [rendered.indexOf(root), rendered.lastIndexOf(start)];
  if (rootAt < 0 || startAt < rootAt)
    throw new Error('The page of GraphiQL has changed: the place where it starts was not found');
  const parts = [rendered.slice(0, rootAt), ASK, root, `<script>${script}</script>`];
  return [
    ...parts,
    rendered.slice(rootAt + root.length, startAt),
    'window.openGraphiql = () => ',
    rendered.slice(startAt),
  ].join('');
}

/** Scripts are inline, and workers start from blobs. Nothing is loaded from other origins; framing is refused. */
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
  // Loaded on demand: its 9 MB of assets would cost every start time and memory, and few processes show the page.
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const plain = Buffer.from(await pageOf(renderGraphiQL(GRAPHIQL).trim()));
  return {
    plain,
    gzipped: await promisify(gzip)(plain),
    etag: weakEtag(plain),
  };
}

/** Serves the page, which needs no credential. Its 9 MB are rendered and compressed at the first request. */
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
