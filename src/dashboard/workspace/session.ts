import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { callAccounts, type Outcome } from '../account/account-api.ts';
import { waitToRetry } from '../graphql/retry.ts';

/**
 * Returns the session of the signed-in person; null until the service has answered. Without a session the page
 * redirects to the sign-in form, which returns afterwards. The session is read again at each address, and repeatedly
 * while the service cannot be reached. Until it answers, its earlier answer remains.
 */
export function useSession(): Outcome | null {
  const { route } = useLocation();
  const [found, setFound] = useState<Outcome | null>(null);

  async function ask(signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await callAccounts('session', undefined, signal);
      if (signal.aborted) return;
      if (outcome.refusal?.code === 'not_signed_in') return route(signInAddress(), true);
      setFound((earlier) => (outcome.refusal !== null && earlier?.refusal === null ? earlier : outcome));
      if (outcome.refusal === null) return;
      await waitToRetry(attempt);
      if (signal.aborted) return;
    }
  }
  useEffect(() => {
    const ended = new AbortController();
    void ask(ended.signal);
    return () => ended.abort();
  }, [route]);
  return found;
}

/** Returns the address of the sign-in form, which contains the current address to return to. */
export function signInAddress(): string {
  // Several reads may be refused at once, when the page has already changed to the form.
  if (location.pathname === '/sign-in') return location.pathname + location.search;
  return `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
}

/**
 * The addresses of pages for signed-in people, and of the documentation. No address of another host matches, nor one
 * that begins with two slashes.
 */
const RETURNS = /^\/(account|docs(\/.+)?|tenants\/.+|ops(\/(account|tenants|entries).*)?)$/;
/**
 * A base for parsing; any origin will do. Browsers drop tabs and line ends and convert backslashes, so only a parser
 * shows what an address means.
 */
const ORIGIN = 'https://service.invalid';

/** Returns the address after signing in: where the person came from, if it is a page of this service. */
export function nextAddress(search: string, memberships: readonly { readonly tenantId: string }[]): string {
  const next = URL.parse(new URLSearchParams(search).get('next') ?? '', ORIGIN);
  if (next?.origin === ORIGIN && RETURNS.test(next.pathname)) return next.pathname + next.search + next.hash;
  const [first] = memberships;
  return first ? `${workspaceAddress(first.tenantId, 'test')}/home` : '/account';
}

export type Environment = 'test' | 'live';

export function workspaceAddress(tenantId: string, environment: Environment): string {
  return `/tenants/${tenantId}/${environment}`;
}
