import { readFileSync } from 'node:fs';
import { ERROR_CODES, REJECTION_CODES, rowOfError, statusesOf } from '../../domain/error-codes.ts';
import { LIMITS } from '../../domain/invoice/field-input.ts';
import { INVOICE_WARNINGS } from '../../domain/invoice/invoice-warnings.ts';
import { NEXT_PAGE, SHORT_PAGES } from '../../domain/invoice/list-invoices-input.ts';
import { MAGIC_ICES, type Scenario } from '../../domain/invoice/test-scenarios.ts';
import { MAX_BODY_BYTES, SIGNATURE_TOLERANCE_MINUTES, USUAL_RATES } from '../../domain/limits.ts';
import { html, type Markup } from '../../text/markup.ts';

const MEANING: Readonly<Record<Scenario, string>> = {
  'unknown-ice': "rejected: the customer's ICE is unknown",
  duplicate: 'rejected: duplicate invoice',
  'slow-decision': 'accepted, 10 s after it was transmitted',
  'unavailable-twice': 'the authority is unavailable twice; then accepted',
  unavailable: 'the authority stays unavailable: rejected with dgi_transmission_failed after 5 attempts within 15 s',
  'lost-reply': "the authority's reply is lost; the look-up shows that it has accepted the invoice",
  'signing-fails': 'signing fails: rejected with signature_error',
  'slow-receipt': 'accepted, but the receipt takes 60 s',
};

/** The origin in the commands. The script of the page replaces it with the origin of the page. */
const ORIGIN = 'http://127.0.0.1:3000';

const STEPS = [
  {
    title: '1. Create an invoice',
    command: `KEY=sk_test_…
curl -s ${ORIGIN}/v1/invoices -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' -H "Idempotency-Key: order-4711" \\
  -d '{"amount": 12000, "currency": "MAD",
       "customer": {"ice": "001234567000062", "name": "Atlas SARL"},
       "lines": [{"description": "Conseil", "quantity": 1, "unit_price": 10000}]}'`,
  },
  {
    title: '2. Follow it: signing, transmitted, accepted',
    command: `ID=inv_…   # the id of the answer
curl -sN ${ORIGIN}/v1/invoices/$ID/stream -H "Authorization: Bearer $KEY"`,
  },
  {
    title: '3. Read it, with dgi_id, xml_url and pdf_url',
    command: `curl -s ${ORIGIN}/v1/invoices/$ID -H "Authorization: Bearer $KEY"`,
  },
  {
    title: '4. List what was accepted',
    command: `curl -s "${ORIGIN}/v1/invoices?status=accepted&limit=10" -H "Authorization: Bearer $KEY"`,
  },
  {
    title: '5. Get events',
    command: `curl -s ${ORIGIN}/v1/webhook_endpoints -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"url": "https://example.com/hook", "events": ["invoice.accepted", "invoice.rejected"]}'`,
  },
];

const GENERATORS = `npx openapi-typescript ${ORIGIN}/v1/openapi.json -o fatoura.d.ts
openapi-generator-cli generate -i ${ORIGIN}/v1/openapi.json -g java -o client \\
  --additional-properties=disallowAdditionalPropertiesIfNotPresent=false,containerDefaultToNull=true`;

/** Rules of the contract by title. Each text is a line of Markdown. */
const RULES: Readonly<Record<string, string>> = {
  Credentials:
    'Every request carries `Authorization: Bearer …`. A secret key (`sk_…`) stays in your back end. A front end reads and follows one invoice with its ' +
    '`client_secret`, which only the answer to its creation shows, or with a publishable key (`pk_…`) and `?client_secret=…`.',
  Amounts:
    'Integers in centimes: 12000 is 120.00 MAD. VAT is computed once for each rate, on the sum of its lines, and rounded half up.',
  Idempotency:
    'With an `Idempotency-Key` a creation can be retried safely: the same key and body get the first answer again, with `Idempotent-Replayed: true`.',
  Lists: `Newest first. ${NEXT_PAGE} ${SHORT_PAGES}`,
  Limits:
    `Requests per minute: usually ${USUAL_RATES.secret} for a secret key, ${USUAL_RATES.publishable} for a publishable key or a client_secret. ` +
    'Every answer states them in `X-RateLimit-Limit`, `-Remaining` and `-Reset`. Above the limit: 429 with `Retry-After`. ' +
    `A body has at most ${MAX_BODY_BYTES / 1024 / 1024} MiB, an invoice ${LIMITS.lines.toLocaleString('en')} lines.`,
  'In GraphQL only':
    'Deposits, discounts, units and quantities that are no integers, customers without an ICE (private persons, foreign companies), and credit ' +
    'notes (`creditInvoice`), which correct an accepted invoice: nothing cancels it. REST shows all invoices, also those with such lines.',
};

/** Converts `code` in backticks to HTML. */
function inline(markdown: string): Markup {
  return html`${markdown.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

/** Marks the origins in a command, which the script of the page replaces. */
function withOrigin(command: string): Markup {
  const [first = '', ...rest] = command.split(ORIGIN);
  return html`${first}${rest.map((part) => html`<span class="origin">${ORIGIN}</span>${part}`)}`;
}

const EXAMPLE = readFileSync(new URL('./verify-webhook.js', import.meta.url), 'utf8').trimEnd();

/** The page, from quick start to reference. Its script and style are separate files. */
export const INTERACTIVE_PAGE = `<!doctype html>
${
  html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fatoura: API documentation</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/docs.css">
</head>
<body>
<header>
<h1>Fatoura API</h1>
<nav>
<a href="/docs">Documentation</a>
<a href="#quick-start">Quick start</a>
<a href="#errors">Errors</a>
<a href="#rules">Rules</a>
<a href="#test-environment">Test environment</a>
<a href="#warnings">Warnings</a>
<a href="#verify-a-webhook">Verify a webhook</a>
<a href="#clients">Clients</a>
<a href="#reference">Reference</a>
<a href="/v1/openapi.json">OpenAPI</a>
<a href="/graphql">GraphQL</a>
</nav>
</header>
<main>
<section id="quick-start">
<h2>Quick start</h2>
<p>You need a secret test key (<code>sk_test_…</code>). The first start of the service prints one; its operators create others with
<code>npm run -s cli -- keys create --tenant TENANT --environment test --kind secret</code>.</p>
${STEPS.map(({ title, command }) => html`<h3>${title}</h3>\n<pre class="guide"><code>${withOrigin(command)}</code></pre>\n`)}</section>
<section id="errors">
<h2>Errors</h2>
<p>Every failure is answered as <code>{"error": {"code", "message", "param", "status"}}</code>. Decide by <code>code</code>; <code>message</code> is
for developers: it is in English, and its wording may change; <code>param</code> is the path of the field at fault (<code>customer.ice</code>, <code>lines.0.tax_rate</code>) or null. New codes may come: have a
default branch.</p>
<table class="guide errors">
<thead><tr><th>code</th><th>status</th><th>meaning</th><th>what to do</th></tr></thead>
<tbody>
${ERROR_CODES.map((code) => {
  const { description, remedy } = rowOfError(code);
  const statuses = statusesOf(code).join(', ');
  return html`<tr><td><code>${code}</code></td><td class="status">${statuses}</td><td>${inline(description)}</td><td>${inline(remedy)}</td></tr>\n`;
})}</tbody>
</table>
<p>A rejected invoice is not a failed request: its <code>status</code> is <code>rejected</code>, and its <code>rejection_reason</code> is the authority's text
or starts with one of these codes.</p>
<table class="guide errors">
<thead><tr><th>rejection_reason</th><th>meaning</th><th>what to do</th></tr></thead>
<tbody>
${Object.entries(REJECTION_CODES).map(
  ([code, { description, remedy }]) =>
    html`<tr><td><code>${code}</code></td><td>${inline(description)}</td><td>${inline(remedy)}</td></tr>\n`,
)}</tbody>
</table>
</section>
<section id="rules">
<h2>Rules</h2>
<dl class="guide">
${Object.entries(RULES).map(([term, text]) => html`<dt>${term}</dt><dd>${inline(text)}</dd>\n`)}</dl>
</section>
<section id="test-environment">
<h2>Test environment</h2>
<p>With a test key (<code>sk_test_</code>, <code>pk_test_</code>) nothing is sent to the tax authority: a mock decides by the customer's ICE. All other ICEs are accepted.
A live key's invoices are cleared by the tax authority; the operator makes one when the connection and the seller's profile are complete.</p>
<table class="guide">
<thead><tr><th>customer.ice</th><th>what happens</th></tr></thead>
<tbody>
${Object.entries(MAGIC_ICES).map(([ice, scenario]) => html`<tr><td><code>${ice}</code></td><td>${MEANING[scenario]}</td></tr>\n`)}</tbody>
</table>
</section>
<section id="warnings">
<h2>Warnings</h2>
<p>Possible problems with the law or the tax authority do not make a request fail. The answer to <code>POST /v1/invoices</code> lists them in the header
<code>Fatoura-Warnings</code>: codes separated by commas, the same on an idempotent replay. GraphQL explains each with its field:
<code>invoice(id: …) { warnings { code path message } }</code>.</p>
<dl class="guide">
${Object.entries(INVOICE_WARNINGS).map(([code, { description, remedy }]) => html`<dt><code>${code}</code></dt><dd>${description} ${remedy}</dd>\n`)}</dl>
</section>
<section id="verify-a-webhook">
<h2>Verify a webhook</h2>
<p>Each delivery has the header <code>Service-Signature: t=…,v1=…</code>: the UNIX time of sending, and an HMAC-SHA256 of that time, a dot and the raw body, keyed
with the whole secret of the endpoint (<code>whsec_…</code>), in hexadecimal. Refuse a time that differs by more than ${SIGNATURE_TOLERANCE_MINUTES} minutes, compare in constant time, and
deduplicate by the id of the event. Deliveries also have the headers of Standard Webhooks, so its libraries can verify them. In Node:</p>
<pre class="guide"><code>${EXAMPLE}</code></pre>
</section>
<section id="clients">
<h2>Clients</h2>
<p>There are <a href="/docs/clients/typescript">clients</a> for TypeScript, Python, PHP, Java and Go, which also repeat requests safely and resume
streams. For other languages generate one from the OpenAPI document. Tested: openapi-typescript, and openapi-generator 7 for TypeScript, Python, Java and PHP. With these options,
clients accept fields that are added later, and the Java client sends no empty list for a field that is not set.</p>
<pre class="guide"><code>${withOrigin(GENERATORS)}</code></pre>
</section>
<section><div id="reference"></div></section>
</main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/docs.js"></script>
</body>
</html>`.text
}
`;
