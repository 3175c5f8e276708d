import { expect, it, vi } from 'vitest';
import { Client, invoiceFor } from '../support/client.ts';
import { type TestService, withSharedService } from '../support/service.ts';

let service: TestService;
let client: Client;
withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  client = new Client(service.url, (await service.tenant()).secretKey);
});

const ATTEMPTS = `query ($id: ID!) {
  invoice(id: $id) {
    documents { receipt { ready } }
    authorityAttempts { at purpose outcome message milliseconds requestId }
  }
}`;

async function attemptsFor(ice: string) {
  const { id, client_secret } = (await client.post('/v1/invoices', invoiceFor(ice))).body;
  await client.settled(id);
  const { documents, authorityAttempts } = await vi.waitFor(
    async () => {
      const { invoice } = (await client.graphql(ATTEMPTS, { id })).body.data;
      expect(invoice.documents === null || invoice.documents.receipt.ready).toBe(true);
      return invoice;
    },
    { timeout: 30_000, interval: 50 },
  );
  return { attempts: authorityAttempts, documents, id, client_secret };
}

/** `purpose outcome` of each attempt. */
const told = (attempts: { purpose: string; outcome: string }[]) =>
  attempts.map(({ purpose, outcome }) => `${purpose} ${outcome}`);

it('each call to the authority is listed with its outcome and the authority’s message', async () => {
  const [refusing, losing, rejecting] = await Promise.all(
    ['999000000000490', '999000000000684', '999000000000102'].map(attemptsFor),
  );
  expect(told(refusing?.attempts)).toEqual([
    'submit not_received',
    'submit not_received',
    'submit accepted',
    'receipt fetched',
  ]);
  expect(refusing?.attempts[0].message).toContain('503');
  const times = refusing?.attempts.map(({ at }: { at: string }) => Date.parse(at));
  expect(times).toEqual([...times].sort((a: number, b: number) => a - b));
  expect(told(losing?.attempts)).toEqual(['submit unknown', 'look_up accepted', 'receipt fetched']);
  for (const { milliseconds, requestId } of refusing?.attempts ?? []) {
    expect(milliseconds).toBeGreaterThanOrEqual(0);
    // The mock is called within the process: no request is sent.
    expect(requestId).toBeNull();
  }
  expect(rejecting?.attempts).toMatchObject([{ outcome: 'rejected', message: expect.stringContaining('ICE') }]);
});

it('needs a secret key: a client_secret gets an empty list', async () => {
  const { attempts, id, client_secret } = await attemptsFor('001525713000097');
  expect(told(attempts)).toEqual(['submit accepted', 'receipt fetched']);
  const { body } = await new Client(service.url, client_secret).graphql(ATTEMPTS, { id });
  expect(body.data.invoice.authorityAttempts).toEqual([]);
});
