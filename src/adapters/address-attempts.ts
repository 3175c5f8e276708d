import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/**
 * How long one address of a host may take to accept a connection before the next one is tried, milliseconds. It allows
 * for one lost packet, which is sent again after 1 s, and leaves time for another address within the 5 s to connect. By
 * default Node gives up each address but the last one after 250 ms, for good: a distant IPv4 address of a host that has
 * an IPv6 address too is then never reached from a network without IPv6.
 */
export const ADDRESS_ATTEMPT_MS = 2000;

/** Makes it the default of all connections of this process: to collectors, time-stamping authorities and the store. */
export function waitForSlowAddresses(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);
}
