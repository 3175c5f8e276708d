import { isIP, isIPv4, isIPv6 } from 'node:net';

/** Maximum length of a node identifier that is parsed. An address with its zone and port is shorter. */
const MOST_CHARACTERS = 100;

/**
 * Extracts the address from a node identifier as proxies write it (RFC 7239, section 6, and X-Forwarded-For in
 * practice): `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]:4711`, `2001:db8::1`, quoted or not. The port is dropped,
 * because each connection has another one. An identifier without an address (`unknown`, `_hidden`) is returned
 * unchanged, up to 100 characters. It is not replaced by the address of the proxy, which may be this machine.
 */
export function forwardedAddress(identifier: string): string {
  const text = identifier.slice(0, MOST_CHARACTERS).trim();
  const node = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (isIP(node) !== 0) return node;
  const [, bracketed = '', colonPort] = /^\[([^\]]*)\](:[\w.-]+)?$/.exec(node) ?? [];
  if (isIPv6(bracketed)) return bracketed;
  const withoutPort = colonPort === undefined ? node.replace(/:[\w.-]+$/, '') : '';
  return isIPv4(withoutPort) || isIPv6(withoutPort) ? withoutPort : node;
}

/**
 * Returns the address that a rate limit counts. For IPv4 that is the address, also if it is mapped into IPv6
 * (`::ffff:192.0.2.1`). For IPv6 it is the network of 64 bits (`2001:db8:0:1::/64`), because a subscriber has all
 * addresses of at least one such network (RFC 6177).
 * @param ip from the socket or a trusted proxy; a text that is not an address is returned unchanged, up to 100
 * characters
 */
export function limitedAddress(ip: string): string {
  const [address = ''] = ip.split('%');
  if (!isIPv6(address)) return ip.slice(0, MOST_CHARACTERS);
  const groups = groupsOf(address);
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** Returns the eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // URL also converts an embedded IPv4 address to two groups.
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [numbers(before), numbers(after ?? '')];
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}
