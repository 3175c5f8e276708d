import { readFileSync } from 'node:fs';
import { INVOICE_WARNINGS } from '../../domain/invoice/invoice-warnings.ts';
import { MAGIC_ICES, type Scenario } from '../../domain/invoice/test-scenarios.ts';
import { html } from '../../domain/markup.ts';

const MEANING: Readonly<Record<Scenario, string>> = {
  'unknown-ice': "rejected: the customer's ICE is unknown",
  duplicate: 'rejected: duplicate invoice',
  'slow-decision': 'accepted, 10 s after it was transmitted',
  'unavailable-twice': 'the authority is unavailable twice; then accepted',
  unavailable: 'the authority stays unavailable: rejected with dgi_transmission_failed after 5 attempts within 15 s',
  'lost-reply': "the authority's reply is lost; asked again, it has accepted",
  'signing-fails': 'signing fails: rejected with signature_error',
  'slow-receipt': 'accepted, but the receipt takes 60 s',
};

const EXAMPLE = readFileSync(new URL('./verify-webhook.js', import.meta.url), 'utf8').trimEnd();

/** The reference page: what to try in the test environment, how to verify a webhook, and every operation. Its script and style are files beside it. */
export const DOCS_PAGE = `<!doctype html>
${
  html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fatoura: API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/docs.css">
</head>
<body>
<header>
<h1>Fatoura API</h1>
<nav>
<a href="#test-environment">Test environment</a>
<a href="#warnings">Warnings</a>
<a href="#verify-a-webhook">Verify a webhook</a>
<a href="#reference">Reference</a>
<a href="/v1/openapi.json">OpenAPI</a>
<a href="/graphql">GraphQL</a>
</nav>
</header>
<main>
<section id="test-environment">
<h2>Test environment</h2>
<p>With a test key (sk_test_, pk_test_) nothing reaches the tax authority: a mock decides, by the customer's ICE. Any other ICE is accepted.
There are no live keys yet: this version has no connection to the DGI.</p>
<table class="guide">
<thead><tr><th>customer.ice</th><th>what happens</th></tr></thead>
<tbody>
${Object.entries(MAGIC_ICES).map(([ice, scenario]) => html`<tr><td><code>${ice}</code></td><td>${MEANING[scenario]}</td></tr>\n`)}</tbody>
</table>
</section>
<section id="warnings">
<h2>Warnings</h2>
<p>What the law or the tax authority may take amiss is not refused. The answer to <code>POST /v1/invoices</code> names it in the header
<code>Fatoura-Warnings</code>: codes separated by commas, the same on an idempotent replay. GraphQL explains each with its field:
<code>invoice(id: …) { warnings { code path message } }</code>.</p>
<dl class="guide">
${Object.entries(INVOICE_WARNINGS).map(([code, { meaning, remedy }]) => html`<dt><code>${code}</code></dt><dd>${meaning} ${remedy}</dd>\n`)}</dl>
</section>
<section id="verify-a-webhook">
<h2>Verify a webhook</h2>
<p>Each delivery has the header <code>Service-Signature: t=…,v1=…</code>: the UNIX time of sending, and an HMAC-SHA256 of that time, a dot and the raw body, keyed
with the endpoint's whole secret (<code>whsec_…</code>), in hexadecimal digits. Refuse what is more than 5 minutes off, compare in constant time, and deduplicate by
the event's id. The headers of Standard Webhooks are sent too, so any of its libraries verifies a delivery. In Node:</p>
<pre class="guide"><code>${EXAMPLE}</code></pre>
</section>
<section><div id="reference"></div></section>
</main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/docs.js"></script>
</body>
</html>`.text
}
`;
