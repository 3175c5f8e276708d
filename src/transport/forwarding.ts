import type { Context } from 'koa';
import type { Logger } from 'pino';

/** Headers that proxies add (RFC 7239 and its predecessors), in lower case. */
const ADDED_BY_PROXIES = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip'];

/**
 * Returns a function that reports whether a request came through a proxy that is not trusted. The first such request is
 * logged, because the operator has to act. Later ones are not, because any client can send these headers.
 * @param trustedProxies TRUST_PROXY; with 1 or more every proxy in front is trusted
 */
export function untrustedForwarding(trustedProxies: number, log: Pick<Logger, 'warn'>): (ctx: Context) => boolean {
  if (trustedProxies > 0) return () => false;
  let noted = false;
  return ({ headers }) => {
    const header = ADDED_BY_PROXIES.find((name) => headers[name] !== undefined);
    if (header === undefined) return false;
    if (!noted) {
      noted = true;
      log.warn(
        { header },
        'a request came through a proxy, but TRUST_PROXY is not set: live keys are refused there without HTTPS',
      );
    }
    return true;
  };
}
