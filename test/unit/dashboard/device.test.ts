import { expect, it } from 'vitest';
import { deviceOf } from '../../../src/dashboard/account/device.ts';

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const ANDROID = 'Mozilla/5.0 (Linux; Android 10; K)';
const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';

// Each names the browsers that it wants to be taken for, too.
it.each([
  [`${WINDOWS} ${WEBKIT} Chrome/150.0.0.0 Safari/537.36`, 'Chrome, Windows'],
  [`${WINDOWS} ${WEBKIT} Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0`, 'Edge, Windows'],
  [`${WINDOWS} ${WEBKIT} Chrome/150.0.0.0 Safari/537.36 OPR/130.0.0.0`, 'Opera, Windows'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox, Windows'],
  [`${ANDROID} ${WEBKIT} Chrome/150.0.0.0 Mobile Safari/537.36`, 'Chrome, Android'],
  [`${ANDROID} ${WEBKIT} SamsungBrowser/30.0 Chrome/140.0.0.0 Mobile Safari/537.36`, 'Samsung Internet, Android'],
  [`${ANDROID} ${WEBKIT} Chrome/150.0.0.0 Mobile Safari/537.36 EdgA/150.0.0.0`, 'Edge, Android'],
  [`${PHONE} Version/26.0 Mobile/15E148 Safari/604.1`, 'Safari, iPhone'],
  [`${PHONE} CriOS/150.0.0.0 Mobile/15E148 Safari/604.1`, 'Chrome, iPhone'],
  [`${PHONE} FxiOS/150.0 Mobile/15E148 Safari/605.1.15`, 'Firefox, iPhone'],
  [`${PHONE} EdgiOS/150.0 Mobile/15E148 Safari/605.1.15`, 'Edge, iPhone'],
  [PHONE.replaceAll('iPhone', 'iPad'), 'iPad'],
  [`${MAC} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15`, 'Safari, macOS'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/150.0.0.0 Safari/537.36`, 'Chrome, ChromeOS'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox, Linux'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/150.0.0.0 Safari/537.36`, 'Chrome, Linux'],
])('%s is %s', (userAgent, name) => {
  expect(deviceOf(userAgent)).toBe(name);
});

it('another program is called what it calls itself, at most 60 characters of it', () => {
  expect(deviceOf('curl/8.14.1')).toBe('curl/8.14.1');
  expect(deviceOf('')).toBe('');
  expect(deviceOf('x'.repeat(500))).toBe('x'.repeat(60));
});
