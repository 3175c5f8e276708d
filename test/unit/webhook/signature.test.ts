import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { deliveryHeaders, signatureHeaders, signingKey } from '../../../src/domain/webhook/signature.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const body = JSON.stringify({ id: 'evt_1', data: { name: 'Société Générale à Fès', note: 'شكرا' } });
const content = { eventId: 'evt_1', body, at: new Date() };

/** The verification steps of the contract (docs/api/contract.md, "Signature"), without code of the service. */
function verifies(header: string, raw: string, secret: string, now = Date.now() / 1000): boolean {
  const parts = header.split(',').map((part) => part.split('='));
  const t = parts.find(([name]) => name === 't')?.[1] ?? '';
  const expected = createHmac('sha256', secret).update(`${t}.${raw}`).digest('hex');
  return Math.abs(now - Number(t)) <= 300 && parts.some(([name, value]) => name === 'v1' && value === expected);
}

it('a delivery says what it accepts and who sends it, without which firewalls answer 403 (OWASP CRS 920300, 920320)', () => {
  const headers = deliveryHeaders({ ...content, environment: 'test', manual: false }, [signingKey(newSecret())]);
  expect(headers).toMatchObject({ Accept: '*/*', 'User-Agent': expect.stringMatching(/^Fatoura/) });
});

describe('signatureHeaders', () => {
  it('verifies by the steps of the contract', () => {
    const secret = newSecret();
    const header = signatureHeaders(content, [signingKey(secret)])['Service-Signature'] ?? '';
    expect(header).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
    expect(verifies(header, body, secret)).toBe(true);
    expect(verifies(header, `${body} `, secret)).toBe(false);
    expect(verifies(header, body, newSecret())).toBe(false);
    expect(verifies(header, body, secret, Date.now() / 1000 + 302)).toBe(false);
  });

  it('verifies with the library of Standard Webhooks', () => {
    const secret = newSecret();
    const headers = signatureHeaders(content, [signingKey(secret)]);
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow();
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  });

  it('equals the signature of that library', () => {
    const secret = newSecret();
    expect(signatureHeaders(content, [signingKey(secret)])['webhook-signature']).toBe(
      new Webhook(secret).sign('evt_1', content.at, body),
    );
  });

  it('has a signature for every valid secret during a rotation', () => {
    const [present, former] = [newSecret(), newSecret()];
    const headers = signatureHeaders(content, [present, former].map(signingKey));
    for (const secret of [present, former]) {
      expect(verifies(headers['Service-Signature'] ?? '', body, secret)).toBe(true);
      expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
    }
  });
});
