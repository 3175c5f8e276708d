import { describe, expect, it } from 'vitest';
import { refuseMisplacedKey } from '../../../src/domain/api-key/admission.ts';
import type { Arrival } from '../../../src/domain/arrival.ts';

const SITES = { live: 'https://api.example.com', test: 'https://sandbox.example.com' };
const FAR: Arrival = { encrypted: true, address: '203.0.113.9', forwarded: false, host: 'api.example.com' };

function refusal(...args: Parameters<typeof refuseMisplacedKey>): string | null {
  try {
    refuseMisplacedKey(...args);
    return null;
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_api_key', status: 401, param: null });
    return (error as Error).message;
  }
}

describe('plain HTTP', () => {
  it.each(['203.0.113.9', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '128.0.0.1', '', '127.0.0.1.example'])(
    'refuses a live key from %s',
    (address) => {
      expect(refusal('live', { ...FAR, encrypted: false, address }, null)).toContain('HTTPS');
      expect(refusal('test', { ...FAR, encrypted: false, address }, null)).toBeNull();
      expect(refusal('live', { ...FAR, encrypted: true, address }, null)).toBeNull();
    },
  );

  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('a live key is accepted from %s', (address) => {
    expect(refusal('live', { ...FAR, encrypted: false, address }, null)).toBeNull();
  });

  it('a live key that a proxy on this machine forwards is no key from loopback', () => {
    const through = { ...FAR, encrypted: false, address: '127.0.0.1', forwarded: true };
    expect(refusal('live', through, null)).toContain('TRUST_PROXY');
    expect(refusal('test', through, null)).toBeNull();
  });
});

describe('SANDBOX_URL', () => {
  it('a key of the other environment is refused with the right URL', () => {
    expect(refusal('test', FAR, SITES)).toContain(SITES.test);
    expect(refusal('live', { ...FAR, host: 'Sandbox.example.com' }, SITES)).toContain(SITES.live);
    expect(refusal('live', FAR, SITES)).toBeNull();
    expect(refusal('test', { ...FAR, host: 'Sandbox.example.com' }, SITES)).toBeNull();
  });

  it('every other host counts as production', () => {
    for (const host of ['', '10.0.0.7:3000', 'sandbox.example.com.evil', 'sandbox.example.com:8443']) {
      expect(refusal('test', { ...FAR, host }, SITES)).toContain(SITES.test);
    }
  });

  it('an installation with the same URL for both environments is a sandbox', () => {
    const own = { live: SITES.test, test: SITES.test };
    expect(refusal('live', FAR, own)).not.toBeNull();
    expect(refusal('test', FAR, own)).toBeNull();
  });
});
