import { describe, expect, it } from 'vitest';
import { createAttemptDelivery } from '../../../src/domain/webhook/attempt-delivery.ts';
import type { ClaimedDelivery } from '../../../src/domain/webhook/delivery.ts';
import type { EndpointSecret, WebhookEndpoint } from '../../../src/domain/webhook/endpoint.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const IN_A_DAY = new Date(NOW.getTime() + 86_400_000);
const CLAIM = { id: 'dlv_1', endpointId: 'we_1', eventId: 'evt_1', tries: 0 } as ClaimedDelivery;

/** How an endpoint with these secrets is called: the number of its signatures, or the failure where it is not. */
async function signatures(
  ...secrets: Pick<EndpointSecret, 'sealed' | 'expiresAt'>[]
): Promise<number | undefined | string> {
  const sent: Readonly<Record<string, string>>[] = [];
  const attempt = createAttemptDelivery({
    sender: {
      async send({ headers }) {
        sent.push(headers);
        return { status: 200, headers: [], body: '', truncated: false, latencyMs: 1, failure: null };
      },
    },
    secretBox: {
      open(sealed) {
        if (sealed.startsWith('lost')) throw new Error(`${sealed} was sealed with another MASTER_KEY`);
        return `whsec_${Buffer.from(sealed).toString('base64')}`;
      },
    },
    schedule: [0, 1000],
    now: () => NOW,
  });
  const endpoint = { id: 'we_1', url: 'https://example.com/', secrets } as unknown as WebhookEndpoint;
  const { attempt: made } = await attempt(CLAIM, endpoint, '{}');
  expect(sent.length).toBe(made.failure === null ? 1 : 0);
  return made.failure?.message ?? sent[0]?.['Service-Signature']?.split('v1=').length;
}

describe('a delivery is signed', () => {
  it('with the present secret, and with a former one until its end', async () => {
    expect(await signatures({ sealed: 'new', expiresAt: null })).toBe(2);
    expect(await signatures({ sealed: 'new', expiresAt: null }, { sealed: 'old', expiresAt: IN_A_DAY })).toBe(3);
    expect(await signatures({ sealed: 'new', expiresAt: null }, { sealed: 'old', expiresAt: NOW })).toBe(2);
  });

  it('without a former one that was lost with its master key: rotated, an endpoint works at once', async () => {
    expect(await signatures({ sealed: 'new', expiresAt: null }, { sealed: 'lost', expiresAt: IN_A_DAY })).toBe(2);
  });

  it('never with former ones alone', async () => {
    expect(await signatures({ sealed: 'lost', expiresAt: null }, { sealed: 'old', expiresAt: IN_A_DAY })).toBe(
      'lost was sealed with another MASTER_KEY',
    );
  });
});
