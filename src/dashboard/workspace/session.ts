import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { callAccounts, type Outcome } from '../account/account-api.ts';
import { waitToRetry } from '../graphql/retry.ts';

/**
 * The person who is signed in; null until the service has answered. Without a session the page goes to the form and
 * comes back afterwards. The service is asked at each address, and again while it cannot be reached; until it answers,
 * its earlier answer stands.
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

/** The address of the form, with the present one to come back to. */
export function signInAddress(): string {
  // Several readings may be refused together.
  if (location.pathname === '/sign-in') return location.pathname + location.search;
  return `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
}

/** The pages of people who are signed in. No address of another host matches, nor one that begins with two slashes. */
const SIGNED_IN = /^\/(account|tenants\/.+|ops(\/(tenants|entries).*)?)$/;
/** Any origin: browsers drop tabs and line ends and turn backslashes, so only a parser tells what an address is. */
const ORIGIN = 'https://service.invalid';

/** Where to go after signing in: where somebody came from, if that is a page of this service. */
export function nextAddress(search: string, memberships: readonly { readonly tenantId: string }[]): string {
  const next = URL.parse(new URLSearchParams(search).get('next') ?? '', ORIGIN);
  if (next?.origin === ORIGIN && SIGNED_IN.test(next.pathname)) return next.pathname + next.search;
  const [first] = memberships;
  return first ? `${workspaceAddress(first.tenantId, 'test')}/home` : '/account';
}

export type Environment = 'test' | 'live';

export function workspaceAddress(tenantId: string, environment: Environment): string {
  return `/tenants/${tenantId}/${environment}`;
}
