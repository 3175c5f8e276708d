import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';

const HOUR_MS = 3_600_000;
/** Accepted at once; accepted at the third attempt, 3 s after the first. */
const ICES = ['001234567000089', '999000000000490'];

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true' });
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});
afterEach(() => vi.useRealTimers());

/** Sets the clock of this process; its timers, and the engine's clock, stay as they are. */
function jump(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms, shouldAdvanceTime: true });
}

it.each([
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
])('a clock that is set %s by an hour loses and doubles nothing, and nobody waits for an hour', async (_, ms) => {
  const tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  const { status } = await client.post('/v1/webhook_endpoints', {
    url: `${receiver.url}/hook`,
    events: ['invoice.accepted'],
  });
  expect(status).toBe(201);
  const create = async (ice: string): Promise<string> => {
    const { status, body } = await client.post('/v1/invoices', invoiceFor(ice));
    expect(status).toBe(201);
    return body.id;
  };
  const createAll = () => Promise.all(ICES.map(create));
  const ids = await createAll();
  jump(ms);
  ids.push(...(await createAll()));
  for (const id of ids) expect((await client.settled(id)).status).toBe('accepted');
  // The page of the list goes by the order of creation as the clock had it, without a gap or a double.
  const { data } = (await client.get('/v1/invoices?limit=100')).body;
  expect(data.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort());
  const stored = await service.app.store.db
    .collection<InvoiceDocument>('invoices')
    .find({ tenantId: tenant.id })
    .toArray();
  for (const { events } of stored)
    expect(events.map(({ type }) => type)).toEqual(['invoice.signing', 'invoice.transmitted', 'invoice.accepted']);
  expect(stored.map(({ series }) => series?.serial).sort()).toEqual([1, 2, 3, 4]);
  const delivered = () => receiver.received.filter(({ event }) => ids.includes(event.data.id));
  await expect.poll(() => new Set(delivered().map(({ event }) => event.data.id)).size).toBe(4);
});
