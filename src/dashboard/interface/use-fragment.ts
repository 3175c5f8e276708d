import { useEffect, useState } from 'preact/hooks';

/** Returns the fragment of the address, without `#`. */
export function useFragment(): string {
  const read = () => location.hash.slice(1);
  const [fragment, setFragment] = useState(read);
  useEffect(() => {
    const changed = () => setFragment(read());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return fragment;
}
