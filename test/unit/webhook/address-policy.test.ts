import { describe, expect, it } from 'vitest';
import { isPublicAddress, urlRefusal } from '../../../src/adapters/webhook-http/address-policy.ts';

/** The addresses of lines that have one blank between two of them. */
const addresses = (...lines: string[]) => lines.flatMap((line) => line.split(' '));

describe('isPublicAddress', () => {
  it.each(
    addresses(
      '1.1.1.1 8.8.8.8 41.248.0.1 172.15.255.255 172.32.0.0 100.63.255.255 100.128.0.0',
      '223.255.255.255 192.0.1.1 198.17.255.255 198.20.0.0 2606:4700:4700::1111 2a00:1450::1',
      // NAT64, by which a network without IPv4 reaches hosts that have no IPv6.
      '64:ff9b::8.8.8.8 64:ff9b::808:808 64:ff9b:0:0:0:0:29f8:0001 64:ff9b::101:1',
    ),
  )('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each(
    addresses(
      '0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 169.254.169.254',
      '172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1',
      '198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255',
      '168.63.129.16 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::10.0.0.1',
      '64:ff9b:1::1 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1 2002:7f00:1::',
      '2002:a9fe:a9fe::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1',
      '64:ff9b:: 64:ff9b::a00:1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::1 64:ff9b::1:808:808',
      '64:ff9b:1::8.8.8.8 64:ff9b:1:808:8:800:: 2002:808:808::1 ::8.8.8.8 ::ffff:0:8.8.8.8',
      'ff02::1 2606:4700::1%1 localhost 0x7f.1 127.1',
      '',
    ),
  )('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('urlRefusal', () => {
  it.each(['https://a.example/', 'https://a.example:443/x', 'https://a.example:8443/', 'https://a.example:3000/'])(
    '%s is allowed',
    (url) => expect(urlRefusal(new URL(url))).toBeNull(),
  );
  it.each([
    ['http://a.example/', 'it must be an https:// URL'],
    ['https://a.example:22/', 'port 22 is closed to webhooks'],
    ['https://a.example:25/', 'port 25 is closed to webhooks'],
    ['https://a.example:6000/', 'port 6000 is closed to webhooks'],
    ['https://localhost/', 'localhost is not a public address'],
    ['https://[::1]/', '::1 is not a public address'],
  ])('%s is refused: %s', (url, reason) => expect(urlRefusal(new URL(url))).toBe(reason));
});
