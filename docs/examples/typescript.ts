// The examples of the reference; test/api/docs-examples.test.ts runs this file.
// example setup
import { Fatoura } from '@fatoura/client';

const fatoura = new Fatoura(process.env.FATOURA_KEY, { baseUrl: process.env.FATOURA_URL });
// end
// example createInvoice
const created = await fatoura.invoices.create(
  {
    amount: 12_000,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'Atlas SARL' },
    lines: [{ description: 'Conseil', quantity: 1, unit_price: 10_000 }],
  },
  { orderNumber: '2002' },
);
console.log(created.id, created.status);
// end
// example streamInvoice
for await (const { status } of fatoura.invoices.follow(created.id)) console.log(status);
// end
// example readInvoice
const invoice = await fatoura.invoices.get(created.id);
console.log(invoice.status, invoice.dgi_id, invoice.pdf_url);
// end
// example listInvoices
for await (const { id, amount } of fatoura.invoices.list({ status: 'accepted' })) console.log(id, amount);
// end
// example createWebhookEndpoint
const endpoint = await fatoura.webhookEndpoints.create({
  url: 'https://example.com/hook',
  events: ['invoice.accepted', 'invoice.rejected'],
});
// endpoint.secret signs the deliveries: keep it, only this answer has it.
console.log(endpoint.id);
// end
// example listWebhookEndpoints
for (const { url, active } of await fatoura.webhookEndpoints.list()) console.log(url, active);
// end
// example updateWebhookEndpoint
await fatoura.webhookEndpoints.update(endpoint.id, { active: false });
// end
// example deleteWebhookEndpoint
await fatoura.webhookEndpoints.delete(endpoint.id);
// end
