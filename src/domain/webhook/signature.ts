import { createHmac } from 'node:crypto';

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

/**
 * The headers that prove who sends a delivery (specification, "Signature"; design, section 5): `Service-Signature: t=…,v1=…`, keyed with
 * the whole secret, and those of Standard Webhooks, keyed with the bytes that the secret encodes. While a secret is being rotated each
 * header carries a signature for every secret.
 * @param secrets `whsec_…`, the present one first
 */
export function signatureHeaders(
  { eventId, body, at }: SignedContent,
  secrets: readonly string[],
): Record<string, string> {
  const seconds = Math.floor(at.getTime() / 1000);
  const own = secrets.map((secret) => `v1=${hmac(secret, `${seconds}.${body}`).toString('hex')}`);
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${hmac(key, `${eventId}.${seconds}.${body}`).toString('base64')}`;
  });
  return {
    'Service-Signature': [`t=${seconds}`, ...own].join(','),
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' '),
  };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
