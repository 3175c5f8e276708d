import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

type Done = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void;
/** Resolves a name to all its addresses. */
export type Resolve = (host: string, done: Done) => void;

/**
 * Creates a resolver that uses the system's, with one query per name at a time, which all connections share. A query
 * occupies one of Node's four pool threads until the name server responds, even after the connection's time-out.
 * Without sharing, a dead name server would occupy all four, and block the file operations of the whole service.
 */
export function createSharedResolver(resolve: Resolve = resolveLikeSystem): LookupFunction {
  const underWay = new Map<string, Done[]>();

  function resolveOnce(host: string, done: Done): void {
    const others = underWay.get(host);
    if (others) {
      others.push(done);
      return;
    }
    const waiting = [done];
    underWay.set(host, waiting);
    resolve(host, (error, addresses) => {
      underWay.delete(host);
      for (const each of waiting) each(error, addresses);
    });
  }

  return (host, { all }, done) =>
    resolveOnce(host, (error, addresses) => {
      const [first] = addresses ?? [];
      const failure = error ?? (first ? null : noAddress(host));
      if (failure || !first) return done(failure, '', 4);
      if (all) return (done as (error: null, addresses: LookupAddress[]) => void)(null, [...addresses]);
      done(null, first.address, first.family);
    });
}

const resolveLikeSystem: Resolve = (host, done) => dnsLookup(host, { all: true }, done);

function noAddress(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}
