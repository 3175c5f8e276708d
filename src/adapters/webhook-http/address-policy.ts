import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * IPv4 blocks outside the public internet (IANA special-purpose registry), and Azure's metadata address, which is in
 * none of these blocks.
 */
const CLOSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
];

/** Global unicast addresses. */
const GLOBAL_IPV6 = '2000::/3';
/**
 * Blocks within global unicast that embed an IPv4 address (6to4, Teredo) or are reserved (documentation, protocol
 * assignments).
 */
const CLOSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

/**
 * The prefix of IPv6 addresses that NAT64 translates to the IPv4 address in their last 32 bits (RFC 6052). An IPv6-only
 * network reaches public IPv4 hosts through it. The prefix for local use (64:ff9b:1::/48, RFC 8215) stays closed: each
 * network chooses where the IPv4 address is in it, and that address may be private.
 */
const NAT64 = '64:ff9b::/96';

/** Allowed ports below 1024. */
const LOW_PORTS = new Set([443]);
/** Forbidden ports from 1024 on, used by protocols other than HTTP (WHATWG Fetch, "bad ports"). */
const CLOSED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

const closedIpv4 = listOf(CLOSED_IPV4, 'ipv4');
const globalIpv6 = listOf([GLOBAL_IPV6], 'ipv6');
const closedIpv6 = listOf(CLOSED_IPV6, 'ipv6');
const nat64 = listOf([NAT64], 'ipv6');

/**
 * Whether webhooks may be sent to this address. Only public unicast addresses are allowed, and no address of this
 * machine.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  // An address with a zone id is link-local; isIP accepts it.
  if (family === 0 || address.includes('%') || isOwnAddress(address)) return false;
  if (family === 4) return !closedIpv4.check(address, 'ipv4');
  if (nat64.check(address, 'ipv6')) return isPublicAddress(translatedIpv4(address));
  // IPv4-mapped, ULA, link-local and multicast addresses are all outside of 2000::/3.
  return globalIpv6.check(address, 'ipv6') && !closedIpv6.check(address, 'ipv6');
}

/**
 * Returns why a webhook URL is not allowed, regardless of what its host resolves to; null when it is allowed. The text
 * ends a sentence that says that the URL is not allowed. The same rule applies when an endpoint is created and when a
 * delivery is sent. The resolved address is checked on connecting (see {@link isPublicAddress}).
 */
export function urlRefusal(url: URL): string | null {
  if (url.protocol !== 'https:') return 'it must be an https:// URL';
  const port = url.port === '' ? 443 : Number(url.port);
  if ((port < 1024 && !LOW_PORTS.has(port)) || CLOSED_PORTS.has(port)) return `port ${port} is closed to webhooks`;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // RFC 6761: localhost names always mean this machine, whatever a name server returns.
  const isLocal = /(^|\.)localhost\.?$/.test(host);
  if (isLocal || (isIP(host) !== 0 && !isPublicAddress(host))) return `${host} is not a public address`;
  return null;
}

function listOf(blocks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [network = '', bits] = block.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

/** Returns the IPv4 address in the last 32 bits of an address under {@link NAT64}. */
function translatedIpv4(address: string): string {
  // The URL parser writes these bits in hexadecimal, after `::`, without leading zeros.
  const [, low = ''] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const groups = low.split(':').map((group) => Number.parseInt(group || '0', 16));
  const [high, last] = [groups.at(-2) ?? 0, groups.at(-1) ?? 0];
  return [high >> 8, high & 255, last >> 8, last & 255].join('.');
}

function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((each) => each?.some((own) => own.address === address));
}
