import { expect, it } from 'vitest';
import { signatureHeaders, signingKey } from '../../../src/domain/webhook/signature.ts';
// @ts-expect-error: what the reference page shows, as a receiver would copy it
import { isGenuine } from '../../../src/transport/docs/verify-webhook.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const at = new Date('2026-01-31T12:00:00Z');
const now = at.getTime() / 1000;
const body = '{"id":"evt_1","name":"é"}';
const header = (...secrets: string[]) =>
  signatureHeaders({ eventId: 'evt_1', body, at }, secrets.map(signingKey))['Service-Signature'] as string;

it("the reference page's code takes our deliveries, also while a secret is rotated, and nothing else", () => {
  expect(isGenuine(header(SECRET), body, SECRET, now)).toBe(true);
  expect(isGenuine(header(OTHER, SECRET), Buffer.from(body), SECRET, now + 299)).toBe(true);
  expect(isGenuine(header(OTHER), body, SECRET, now)).toBe(false);
  expect(isGenuine(header(SECRET), `${body} `, SECRET, now)).toBe(false);
  for (const off of [301, -301]) expect(isGenuine(header(SECRET), body, SECRET, now + off)).toBe(false);
  for (const broken of ['', 't=', 'v1=', `t=${now}`, `t=${now},v1=`, `t=x,v1=${'0'.repeat(64)}`, `t=${now},v1=zz`])
    expect(isGenuine(broken, body, SECRET, now)).toBe(false);
});
