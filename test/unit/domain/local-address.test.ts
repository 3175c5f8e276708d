import { expect, it } from 'vitest';
import { localAddress } from '../../../src/domain/local-address.ts';

it.each([
  ['127.0.0.1', 'http://127.0.0.1:4322'],
  ['0.0.0.0', 'http://localhost:4322'],
  ['::', 'http://localhost:4322'],
  ['::1', 'http://[::1]:4322'],
  ['fe80::1', 'http://[fe80::1]:4322'],
])('HOST=%s is opened at %s', (host, address) => {
  expect(localAddress(host, 4322)).toBe(address);
  expect(URL.canParse(localAddress(host, 4322))).toBe(true);
});
