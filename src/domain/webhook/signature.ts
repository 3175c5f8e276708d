import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Environment } from '../tenant/tenant.ts';

const PREFIX = 'whsec_';

/** The content that a signature covers. */
export interface SignedContent {
  /** Prefix evt_; sent as `webhook-id`. */
  readonly eventId: string;
  /** The body as it is sent. */
  readonly body: string;
  /** Time of the attempt; signed in whole UNIX seconds. */
  readonly at: Date;
}

/** The HMAC keys of a secret: the UTF-8 bytes of the whole string, and the bytes that its base64 encodes. */
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
 * Returns the signature headers of a delivery (docs/api/contract.md, "Signature"; docs/decisions/0025):
 * `Service-Signature: t=…,v1=…`, keyed with the whole secret, and those of Standard Webhooks, keyed with the bytes that
 * the secret encodes. During a rotation each header contains a signature for every valid secret.
 * @param keys keys of the endpoint's valid secrets, the current one first
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

/** The facts that the headers of a delivery state besides the signature. */
export interface DeliveryCircumstances {
  readonly environment: Environment;
  /** Whether it was sent by hand: a test event or a resend. */
  readonly manual: boolean;
}

/**
 * Returns all headers of a delivery: `Fatoura-Environment: test` or `live` always, `Fatoura-Trigger: manual` if it was
 * sent by hand (docs/decisions/0028).
 * @param keys as for {@link signatureHeaders}
 */
export function deliveryHeaders(
  content: SignedContent & DeliveryCircumstances,
  keys: readonly SigningKey[],
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    // Without it, the OWASP core rule set (920300) and firewalls that use it refuse the request.
    Accept: '*/*',
    'User-Agent': 'Fatoura-Webhooks/1',
    'Fatoura-Environment': content.environment,
    ...(content.manual && { 'Fatoura-Trigger': 'manual' }),
    ...signatureHeaders(content, keys),
  };
}

function hmac(key: KeyObject, text: string) {
  return createHmac('sha256', key).update(text);
}
