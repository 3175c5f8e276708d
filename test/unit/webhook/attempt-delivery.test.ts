import { describe, expect, it } from 'vitest';
import { createAttemptDelivery } from '../../../src/domain/webhook/attempt-delivery.ts';
import type { ClaimedDelivery } from '../../../src/domain/webhook/delivery.ts';
import type { EndpointSecret, WebhookEndpoint } from '../../../src/domain/webhook/endpoint.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const IN_A_DAY = new Date(NOW.getTime() + 86_400_000);
const CLAIM = { id: 'dlv_1', endpointId: 'we_1', eventId: 'evt_1', tries: 0 } as ClaimedDelivery;

/** Attempts a delivery to an endpoint with these secrets: the number of signatures, or the failure. */
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
  it('with the current secret, and with a former one until it expires', async () => {
    expect(await signatures({ sealed: 'new', expiresAt: null })).toBe(2);
    expect(await signatures({ sealed: 'new', expiresAt: null }, { sealed: 'old', expiresAt: IN_A_DAY })).toBe(3);
    expect(await signatures({ sealed: 'new', expiresAt: null }, { sealed: 'old', expiresAt: NOW })).toBe(2);
  });

  it('without a former secret whose master key is lost: after a rotation the endpoint works at once', async () => {
    expect(await signatures({ sealed: 'new', expiresAt: null }, { sealed: 'lost', expiresAt: IN_A_DAY })).toBe(2);
  });

  it('never with former secrets only', async () => {
    expect(await signatures({ sealed: 'lost', expiresAt: null }, { sealed: 'old', expiresAt: IN_A_DAY })).toBe(
      'lost was sealed with another MASTER_KEY',
    );
  });
});

describe('an answer that echoes the request', () => {
  const [xml, pdf] = ['sGfpaDMG_suuF69Yp1dOeWXg0ehxFyf8', '4_J2vWEvmud7oAditcPtTuRLK4vPKc0c'];
  const url = (token: string, kind: string) => `https://example.com/files/inv_1/${token}.${kind}`;
  const sent = JSON.stringify({
    id: 'evt_1',
    data: { xml_url: url(xml, 'xml'), pdf_url: url(pdf, 'pdf'), metadata: {} },
  });

  async function kept(answer: string, body = sent) {
    const attempt = createAttemptDelivery({
      sender: {
        send: async () => ({
          status: 500,
          headers: [['x-echo', answer] as const],
          body: answer,
          truncated: false,
          latencyMs: 1,
          failure: null,
        }),
      },
      secretBox: { open: () => `whsec_${Buffer.from('new').toString('base64')}` },
      schedule: [0],
      now: () => NOW,
    });
    const secrets = [{ sealed: 'new', expiresAt: null }];
    const endpoint = { id: 'we_1', url: 'https://example.com/', secrets } as unknown as WebhookEndpoint;
    const { attempt: made } = await attempt(CLAIM, endpoint, body);
    expect(made.headers).toEqual([['x-echo', made.body]]);
    return made.body;
  }

  it.each([
    ['whole', sent],
    ['with slashes escaped, as PHP does', sent.replaceAll('/', '\\/')],
    ['as a query string', encodeURIComponent(sent)],
  ])('%s is stored without the document tokens', async (_how, echo) => {
    expect(await kept(echo)).toBe(echo.replace(xml, '…').replace(pdf, '…'));
  });

  it('is stored without them even if it is truncated within a URL', async () => {
    const cut = sent.slice(0, sent.indexOf(pdf) + 20);
    expect(await kept(cut)).toBe(cut.replace(xml, '…').replace(pdf.slice(0, 20), '…'));
  });

  it('is stored unchanged if the event has no documents', async () => {
    const none = sent.replace(/"https[^"]*"/g, 'null');
    expect(await kept(sent, none)).toBe(sent);
  });
});
