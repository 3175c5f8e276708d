import { expect, it } from 'vitest';
import { limitedAddress } from '../../../src/transport/client-address.ts';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:255.255.0.255', '255.255.0.255'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
  ['2001:0DB8:0000:0001:0:0:0:2', '2001:db8:0:1::/64'],
  ['2001:db8:0:2::1', '2001:db8:0:2::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['192.0.2.1:4711', '192.0.2.1:4711'],
  ['', ''],
  ['x'.repeat(5000), 'x'.repeat(100)],
])('the limit of an address counts %s with %s', (ip, expected) => {
  expect(limitedAddress(ip)).toBe(expected);
});
