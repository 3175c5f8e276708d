import { SAMPLE_CUSTOMER } from '../creation/sample-invoice.ts';
import { useLanguage } from '../interface/language.tsx';
import { PageFrame } from '../interface/page-frame.tsx';

/** A valid body of POST /v1/invoices for 120.00 MAD with VAT of 20 %. */
const FIRST_INVOICE = {
  amount: 12000,
  currency: 'MAD',
  customer: SAMPLE_CUSTOMER,
  lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000 }],
};

/** `/`: describes the service and how to create the first invoice. */
export function Welcome() {
  const { texts } = useLanguage();
  const { title, lead, firstInvoice, steps, docs, graphql, openapi, account } = texts.welcome;
  return (
    <PageFrame title={firstInvoice}>
      <section class="welcome">
        <h1>{title}</h1>
        <p class="lead">{lead}</p>
        <nav class="documents" aria-label={docs}>
          <a href="/docs">
            <strong>{docs}</strong>
            <span>
              <bdi dir="ltr">/docs</bdi>
            </span>
          </a>
          <a href="/graphql">
            <strong>{graphql}</strong>
            <span>
              <bdi dir="ltr">/graphql</bdi>
            </span>
          </a>
          <a href="/v1/openapi.json">
            <strong>{openapi}</strong>
            <span>
              <bdi dir="ltr">/v1/openapi.json</bdi>
            </span>
          </a>
          <a href="/account">
            <strong>{account}</strong>
            <span>
              <bdi dir="ltr">/account</bdi>
            </span>
          </a>
        </nav>
      </section>
      <section class="card first" aria-labelledby="first">
        <h2 id="first">{firstInvoice}</h2>
        <ol>
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
        <pre dir="ltr" lang="en" tabIndex={0}>
          {command(location.origin)}
        </pre>
      </section>
    </PageFrame>
  );
}

/** Formats the request as a shell command. */
function command(origin: string): string {
  const fields = Object.entries(FIRST_INVOICE).map(([name, value]) => `    "${name}": ${JSON.stringify(value)}`);
  const lines = [
    `curl ${origin}/v1/invoices`,
    `-H "Authorization: Bearer $FATOURA_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-d '{\n${fields.join(',\n')}\n  }'`,
  ];
  return `${lines.join(' \\\n  ')}\n\n${origin}/i/<id>#<client_secret>`;
}
