import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/**
 * How long one address of a host may take to accept a connection before the next one is tried, milliseconds. Allows for
 * one lost packet, which is sent again after 1 s, and leaves time for another address within the 5 s to connect. Node's
 * default gives up each address but the last after 250 ms and does not return to it. A distant IPv4 address of a host
 * that also has an IPv6 address would then never be reached from a network without IPv6.
 */
export const ADDRESS_ATTEMPT_MS = 2000;

/**
 * Makes this time-out the default of all connections of this process: to collectors, time-stamping authorities and the
 * store.
 */
export function waitForSlowAddresses(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);
}
