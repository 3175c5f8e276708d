import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { callAccounts, type Outcome } from '../account/account-api.ts';

/**
 * Who is signed in; null until the service has answered. Without a session the page goes to the form and comes back
 * afterwards.
 */
export function useSession(): Outcome | null {
  const { route } = useLocation();
  const [found, setFound] = useState<Outcome | null>(null);
  useEffect(() => {
    const ended = new AbortController();
    callAccounts('session', undefined, ended.signal).then((outcome) => {
      if (ended.signal.aborted) return;
      if (outcome.refusal?.code === 'not_signed_in') route(signInAddress(), true);
      else setFound(outcome);
    });
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

/** Where to go after signing in: where somebody came from, if that is a page of this service. */
export function nextAddress(search: string, memberships: readonly { readonly tenantId: string }[]): string {
  const next = new URLSearchParams(search).get('next');
  // Two slashes or a backslash would begin the name of another host.
  if (next && /^\/(?![/\\])/.test(next)) return next;
  const [first] = memberships;
  return first ? `${workspaceAddress(first.tenantId, 'test')}/home` : '/account';
}

export type Environment = 'test' | 'live';

export function workspaceAddress(tenantId: string, environment: Environment): string {
  return `/tenants/${tenantId}/${environment}`;
}
