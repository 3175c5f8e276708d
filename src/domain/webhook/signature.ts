import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Environment } from '../tenant/tenant.ts';

const PREFIX = 'whsec_';

/** What a delivery is signed over. */
export interface SignedContent {
  /** Prefix evt_; sent as `webhook-id`. */
  readonly eventId: string;
  /** The body as it is sent. */
  readonly body: string;
  /** When it is sent; whole UNIX seconds are signed. */
  readonly at: Date;
}

/** A secret, ready to sign with: once as it is written, once as the bytes that it encodes. */
export interface SigningKey {
  readonly whole: KeyObject;
  readonly decoded: KeyObject;
}

/** @param secret `whsec_` and base64 */
export function signingKey(secret: string): SigningKey {
  const decoded = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return { whole: createSecretKey(secret, 'utf8'), decoded: createSecretKey(decoded) };
}

/**
 * The headers that prove who sends a delivery (docs/api/contract.md, "Signature"; docs/decisions/0025): `Service-Signature: t=…,v1=…`, keyed with
 * the whole secret, and those of Standard Webhooks, keyed with the bytes that the secret encodes. While a secret is being rotated each
 * header carries a signature for every secret.
 * @param keys of the endpoint's secrets, the present one first
 */
export function signatureHeaders(
  { eventId, body, at }: SignedContent,
  keys: readonly SigningKey[],
): Record<string, string> {
  const seconds = Math.floor(at.getTime() / 1000);
  const own = keys.map(({ whole }) => `v1=${hmac(whole, `${seconds}.${body}`).digest('hex')}`);
  const standard = keys.map(({ decoded }) => `v1,${hmac(decoded, `${eventId}.${seconds}.${body}`).digest('base64')}`);
  return {
    'Service-Signature': [`t=${seconds}`, ...own].join(','),
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' '),
  };
}

/** What a delivery tells besides its event. */
export interface DeliveryCircumstances {
  readonly environment: Environment;
  /** Whether somebody sent it by hand: a test event, or an event that is sent again. */
  readonly manual: boolean;
}

/**
 * All headers of a delivery: `Fatoura-Environment: test` or `live` on each, `Fatoura-Trigger: manual` on what was sent by hand (docs/decisions/0028).
 * @param keys as for {@link signatureHeaders}
 */
export function deliveryHeaders(
  content: SignedContent & DeliveryCircumstances,
  keys: readonly SigningKey[],
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Fatoura-Webhooks/1',
    'Fatoura-Environment': content.environment,
    ...(content.manual && { 'Fatoura-Trigger': 'manual' }),
    ...signatureHeaders(content, keys),
  };
}

function hmac(key: KeyObject, text: string) {
  return createHmac('sha256', key).update(text);
}
