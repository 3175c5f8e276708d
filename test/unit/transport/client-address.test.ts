import { expect, it } from 'vitest';
import { forwardedAddress, limitedAddress } from '../../../src/transport/client-address.ts';

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

it.each([
  ['203.0.113.7', '203.0.113.7'],
  // Azure Application Gateway, IIS ARR
  ['203.0.113.7:51034', '203.0.113.7'],
  [' 203.0.113.7:_port ', '203.0.113.7'],
  ['"203.0.113.7:51034"', '203.0.113.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['[2001:db8::7]:51034', '2001:db8::7'],
  ['"[2001:db8::7]:51034"', '2001:db8::7'],
  ['2001:db8:0:0:0:0:0:7:51034', '2001:db8:0:0:0:0:0:7'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
  ['[::ffff:203.0.113.7]:51034', '::ffff:203.0.113.7'],
  ['[fe80::1%eth0]:51034', 'fe80::1%eth0'],
  ['unknown', 'unknown'],
  ['_SEVKISEK', '_SEVKISEK'],
  ['_SEVKISEK:51034', '_SEVKISEK:51034'],
  ['[not an address]:51034', '[not an address]:51034'],
  ['999.0.113.7:51034', '999.0.113.7:51034'],
  ['', ''],
  [`${'['.repeat(5000)}`, '['.repeat(100)],
])('the address that a proxy writes as %s is %s', (identifier, expected) => {
  expect(forwardedAddress(identifier)).toBe(expected);
});
