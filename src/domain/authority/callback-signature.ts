import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

const PREFIX = 'whsec_';
/** Maximum time by which a signature may be old or ahead, milliseconds. */
export const CALLBACK_TOLERANCE_MS = 300_000;
/** Maximum number of signatures in a header: one for each valid secret of a rotation. */
const MOST_SIGNATURES = 8;
const SHA256_BYTES = 32;

/** The headers of a callback; undefined for one that was not sent. */
export interface CallbackHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

/** Returns the HMAC key of a callback secret. @param secret `whsec_` and base64, or the bytes that this encodes */
export function callbackKey(secret: string | Uint8Array): KeyObject {
  return createSecretKey(typeof secret === 'string' ? Buffer.from(secret.slice(PREFIX.length), 'base64') : secret);
}

/**
 * Verifies a message as Standard Webhooks describes, in constant time.
 * @param body as it was received
 * @returns whether the sender has the key and signed the message within {@link CALLBACK_TOLERANCE_MS}
 */
export function isSignedCallback(key: KeyObject, headers: CallbackHeaders, body: Uint8Array, now: Date): boolean {
  const { id = '', timestamp = '', signature = '' } = headers;
  if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() - Number(timestamp) * 1000) > CALLBACK_TOLERANCE_MS) return false;
  const signatures = signature.split(' ');
  if (signatures.length > MOST_SIGNATURES) return false;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.some((each) => {
    const [version, encoded = ''] = each.split(',', 2);
    const given = Buffer.from(encoded, 'base64');
    return version === 'v1' && given.length === SHA256_BYTES && timingSafeEqual(given, expected);
  });
}
