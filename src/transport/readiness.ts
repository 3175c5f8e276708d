/**
 * Why a process cannot do its work; null if it can.
 * @param withStore whether an outage of the store counts
 */
export type Ready = (withStore: boolean) => Promise<string | null>;

/** What operators must know although the process can do its work: there is nothing to be taken out of a balancer for. */
export type Warnings = () => Promise<readonly string[]>;

/**
 * The answer to `/readyz`. With `?exclude=store` an outage of the store does not count: proxies ask so, because it takes
 * the store from every process, and a process without it still answers errors as the contract says, and reads where
 * the store is only full.
 */
export async function readinessOf(
  { ready, warnings }: { readonly ready: Ready; readonly warnings: Warnings },
  query: URLSearchParams,
): Promise<{ readonly status: 200 | 503; readonly body: object }> {
  const withStore = !query.getAll('exclude').includes('store');
  const reason = await ready(withStore);
  if (reason !== null) return { status: 503, body: { status: 'not ready', reason } };
  // They are read from the store, which may have gone away in this moment.
  const told = withStore ? await warnings().catch(() => []) : [];
  return { status: 200, body: { status: 'ready', ...(told.length > 0 && { warnings: told }) } };
}
