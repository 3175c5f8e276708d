import { expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { DELIVERIES, DELIVERIES_PAGE } from '../../src/dashboard/endpoints/documents.ts';
import { newId } from '../../src/domain/ids.ts';
import { KEPT_RESPONSE_BYTES } from '../../src/domain/limits.ts';
import { Client } from '../support/client.ts';
import { startService } from '../support/service.ts';

it('the page of deliveries is answered also when each attempt of each one failed with the longest answer', async () => {
  const service = await startService();
  const tenant = await service.tenant();
  // biome-ignore lint/suspicious/noExplicitAny: the stored form
  const stored = (name: string) => service.app.store.db.collection<any>(name);
  const { length: tries } = readConfig({}).webhookRetrySchedule;
  // Half of the characters of a page in HTML are escaped in JSON, at most.
  const body = '"x'.repeat(KEPT_RESPONSE_BYTES / 2);
  const headers = Array.from({ length: 20 }, (_, n) => [`x-header-${n}`, 'value '.repeat(10)]);
  const attempt = {
    at: new Date(),
    url: `https://receiver.example/${'path/'.repeat(20)}`,
    requestHeaders: { 'content-type': 'application/json', 'service-signature': 'x'.repeat(200) },
    status: 500,
    headers,
    body,
    truncated: true,
    latencyMs: 10.5,
    failure: null,
  };
  for (let nth = 0; nth < 30; nth++) {
    const eventId = newId('evt');
    const attempts = Array.from({ length: tries }, () => ({ ...attempt, _id: newId('evt') }));
    await stored('webhook_attempts').insertMany(attempts);
    await stored('webhook_deliveries').insertOne({
      _id: `dlv_${eventId.slice(4)}_1`,
      tenantId: tenant.id,
      environment: 'test',
      endpointId: newId('we'),
      eventId,
      eventType: 'invoice.accepted',
      invoiceId: newId('inv'),
      state: 'failed',
      createdAt: new Date(),
      order: `${String(nth).padStart(24, '0')}-1`,
      attempts: attempts.map(({ _id }) => _id),
      storedAt: new Date(),
    });
  }
  const client = new Client(service.url, tenant.secretKey);
  const query = String(DELIVERIES);
  const { body: answer } = await client.post('/graphql', { query, variables: { first: DELIVERIES_PAGE } });
  expect(answer.errors).toBeUndefined();
  const { nodes } = answer.data.webhookDeliveries;
  expect(nodes).toHaveLength(DELIVERIES_PAGE);
  expect(nodes[0].attempts).toHaveLength(tries);
  expect(nodes[0].attempts[0].responseBody).toBe(body);
  await service.close();
});
