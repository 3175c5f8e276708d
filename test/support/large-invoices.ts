import { randomUUID } from 'node:crypto';
import { Client, invoiceBody } from './client.ts';
import type { TestService, TestTenant } from './service.ts';

/** A description of the maximum length. */
const LONGEST = 'x'.repeat(500);

/**
 * Creates an invoice with the given number of lines, waits until it is accepted or rejected, and stores copies of it.
 * @returns the invoice with its client_secret, and all ids
 */
export async function copiedInvoice(
  service: TestService,
  tenant: TestTenant,
  lines: number,
  copies: number,
  description = LONGEST,
): Promise<{ id: string; client_secret: string; ids: string[] }> {
  const client = new Client(service.url, tenant.secretKey);
  const line = { description, quantity: 1, unit_price: 100, tax_rate: 20 };
  const body = invoiceBody({ amount: lines * 120, lines: Array.from({ length: lines }, () => line) });
  const { id, client_secret } = (await client.post('/v1/invoices', body)).body;
  await client.settled(id);
  // biome-ignore lint/suspicious/noExplicitAny: any stored document
  const invoices = service.app.store.db.collection<any>('invoices');
  const {
    idempotency: _key,
    series: _number,
    work: _work,
    outbox: _outbox,
    // These are written just after the decision. Copies never have them, so that the time of copying does not matter.
    summed: _status,
    searchTerms: _terms,
    ...document
  } = await invoices.findOne({ _id: id });
  const ids: string[] = [id];
  for (let n = 1; n <= copies; n++) {
    const _id = `inv_${randomUUID()}`;
    // The order key is newer than the original's, within the same millisecond.
    const order = `${document.order.slice(0, 12)}${n.toString(16).padStart(4, '0')}${document.order.slice(16)}`;
    await invoices.insertOne({ ...document, _id, order });
    ids.push(_id);
  }
  return { id, client_secret, ids };
}
