import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Verifies the signature of a delivery.
 * @param header the header Service-Signature
 * @param rawBody the body as received, before parsing
 * @param secret the whole secret of the endpoint: whsec_…
 */
export function isGenuine(header, rawBody, secret, now = Date.now() / 1000) {
  const parts = header.split(',').map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d+$/.test(time) || Math.abs(now - Number(time)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(rawBody).digest();
  // While a secret is being rotated there are several signatures, one of which must match.
  return parts.some(([name, value = '']) => {
    const given = Buffer.from(value, 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
