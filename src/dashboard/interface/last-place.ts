import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';

let place: string | null = null;

/** Remembers the address that a frame shows, unless it is that of the account. */
export function useLastPlace(account: string): void {
  const { path, url } = useLocation();
  useEffect(() => {
    if (path !== account) place = url;
  }, [path, url, account]);
}

/** Returns the address that was shown before the account; null where the account was opened first. */
export function lastPlace(): string | null {
  return place;
}
