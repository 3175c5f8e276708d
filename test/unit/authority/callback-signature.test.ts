import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { callbackKey, isSignedCallback } from '../../../src/domain/authority/callback-signature.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const BODY = '{"id":"inv_1","status":"accepted"}';
const NOW = new Date('2026-11-20T10:00:00Z');

/** The headers of the library, which signs what it is given. */
function signed({ id = 'msg_1', at = NOW, body = BODY, secret = SECRET } = {}) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return { id, timestamp, signature: new Webhook(secret).sign(id, at, body) };
}

const verify = (headers: Parameters<typeof isSignedCallback>[1], body = BODY, now = NOW) =>
  isSignedCallback(callbackKey(SECRET), headers, Buffer.from(body), now);
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

describe('a signature is valid', () => {
  it('as the library makes it, with the secret as text or bytes', () => {
    expect(verify(signed())).toBe(true);
    const bytes = Buffer.from(SECRET.slice(6), 'base64');
    expect(isSignedCallback(callbackKey(bytes), signed(), Buffer.from(BODY), NOW)).toBe(true);
  });

  it('among those of other secrets', () => {
    const other = signed({ secret: `whsec_${randomBytes(32).toString('base64')}` }).signature;
    expect(verify({ ...signed(), signature: `${other} v1a,x ${signed().signature}` })).toBe(true);
  });

  it.each([-300, -1, 1, 300])('%d s from its time', (seconds) => {
    expect(verify(signed(), BODY, later(seconds))).toBe(true);
  });

  it('of any bytes', () => {
    const body = 'é\u0000\u{1f4c4}';
    expect(verify(signed({ body }), body)).toBe(true);
  });
});

describe('a signature is not valid', () => {
  const { id, timestamp, signature } = signed();
  const flipped = signature.replace(/,(.)/, (_, first) => `,${first === 'A' ? 'B' : 'A'}`);
  it.each<[string, Partial<ReturnType<typeof signed>> | Record<string, undefined>]>([
    ['without an id', { id: undefined }],
    ['without a time', { timestamp: undefined }],
    ['without a signature', { signature: undefined }],
    ['with another id', { id: 'msg_2' }],
    ['with another time', { timestamp: String(Number(timestamp) + 1) }],
    ['with one other bit', { signature: flipped }],
    ['cut short', { signature: signature.slice(0, -8) }],
    ['of another version', { signature: signature.replace('v1', 'v2') }],
    ['without a version', { signature: signature.slice(3) }],
    ['with a time that is no number', { timestamp: `${timestamp}.0` }],
    ['with a negative time', { timestamp: `-${timestamp}` }],
    ['with an endless id', { id: 'x'.repeat(10_000) }],
    ['behind hundreds of others', { signature: `${'v1,x '.repeat(500)}${signature}` }],
  ])('%s', (_name, changes) => {
    expect(verify({ id, timestamp, signature, ...changes })).toBe(false);
  });

  it.each([-301, 301, 86_400])('%d s from its time', (seconds) => {
    expect(verify(signed(), BODY, later(seconds))).toBe(false);
  });

  it('for another body, another secret', () => {
    expect(verify(signed(), `${BODY} `)).toBe(false);
    expect(verify(signed({ secret: `whsec_${randomBytes(32).toString('base64')}` }))).toBe(false);
  });
});
