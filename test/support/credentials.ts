import { expect, vi } from 'vitest';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { type Answer, Client, invoiceBody, messagesOf } from './client.ts';
import { startService, type TestService } from './service.ts';

/**
 * Who asks: `secret` and `live` are the secret keys of the tenant "own", `other` is another tenant's, `pk` its publishable key, `pk+cs` the
 * same with the accepted invoice's client_secret, `cs` that client_secret, `sibling` that of the rejected invoice.
 */
export const CREDENTIALS = ['sibling', 'cs', 'pk+cs', 'pk', 'other', 'live', 'secret'] as const;
export type CredentialName = (typeof CREDENTIALS)[number];

export interface Credential {
  readonly token: string;
  /** What goes along as the argument `clientSecret`. */
  readonly clientSecret: string | null;
}

/** A tenant "own" with every kind of object in its test environment, and everybody who may ask for them. */
export interface World {
  readonly service: TestService;
  readonly credentials: Readonly<Record<CredentialName, Credential>>;
  /** As REST created them; every field has a value in one of them. */
  readonly accepted: Answer['body'];
  readonly rejected: Answer['body'];
  readonly endpointId: string;
  readonly eventId: string;
  readonly deliveryId: string;
  /** Of a secret key that nobody uses. */
  readonly keyId: string;
}

export async function startWorld(): Promise<World> {
  const service = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const own = await service.tenant(SPECIMEN_SELLER);
  const client = new Client(service.url, own.secretKey);
  const data = async (query: string) => {
    const { body } = await client.graphql(query);
    expect(body.errors).toBeUndefined();
    return body.data;
  };
  const { body: endpoint } = await client.post('/v1/webhook_endpoints', {
    ...{ url: 'http://127.0.0.1:9/', events: ['invoice.accepted', 'invoice.rejected'] },
  });
  const create = async (ice: string) => {
    const customer = { ice, name: 'Atlas', address: '1, rue X', email: 'compta@example.com' };
    return (await client.post('/v1/invoices', invoiceBody({ customer, metadata: { order: '7' } }))).body;
  };
  const [accepted, rejected] = [await create('001234567000089'), await create('999000000000102')];
  for (const { id } of [accepted, rejected]) await client.settled(id);
  const SENT = `{ invoice(id: "${accepted.id}") { email { status } events { id } deliveries { id } } }`;
  const { events, deliveries } = await vi.waitFor(
    async () => {
      const { invoice } = await data(SENT);
      expect([invoice.email.status, invoice.deliveries.length]).toEqual(['sent', 1]);
      return invoice;
    },
    { timeout: 20_000, interval: 50 },
  );
  // As if drawing the rejected one's PDF had failed again and again, so that it needs attention.
  const [now, later] = [new Date(), new Date(Date.now() + 86_400_000)];
  const work = { stage: 'render', attempts: 9, outcomeUnknown: false, claims: 9, token: null, since: now };
  await service.app.store.db
    .collection<{ _id: string }>('invoices')
    .updateOne({ _id: rejected.id }, { $set: { work: { ...work, dueAt: later, sweepAt: later } } });
  const SPARE = 'mutation { createApiKey(kind: secret) { ... on IssuedApiKey { apiKey { id } } } }';
  const { createApiKey: spare } = await data(SPARE);
  const just = (token: string): Credential => ({ token, clientSecret: null });
  return {
    service,
    accepted,
    rejected,
    endpointId: endpoint.id,
    eventId: events.at(-1).id,
    deliveryId: deliveries[0].id,
    keyId: spare.apiKey.id,
    credentials: {
      secret: just(own.secretKey),
      live: just(await service.liveKey(own.id)),
      other: just((await service.tenant(SPECIMEN_SELLER)).secretKey),
      pk: just(own.publishableKey),
      'pk+cs': { token: own.publishableKey, clientSecret: accepted.client_secret },
      cs: just(accepted.client_secret),
      sibling: just(rejected.client_secret),
    },
  };
}

/** A subscription's first message over Yoga's Server-Sent Events; `meanwhile` runs once it is open. */
export async function firstMessage(
  url: string,
  token: string,
  query: string,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<Answer['body']> {
  const end = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
    signal: end.signal,
  });
  try {
    const first = messagesOf(response).next();
    await meanwhile();
    return (await first).value?.data;
  } finally {
    end.abort();
  }
}
