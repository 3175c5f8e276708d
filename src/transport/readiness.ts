/**
 * Returns why a process cannot do its work; null if it can.
 * @param withStore whether an outage of the store counts
 */
export type Ready = (withStore: boolean) => Promise<string | null>;

/** Returns what operators must know although the process can do its work and need not be taken out of a balancer. */
export type Warnings = () => Promise<readonly string[]>;

/**
 * Makes the answer to `/readyz`. With `?exclude=store` an outage of the store does not count. Proxies use it, because
 * all processes lose the store at the same time. A process without it still answers errors as the contract says, and
 * still answers reads if the store is only full.
 */
export async function readinessOf(
  { ready, warnings }: { readonly ready: Ready; readonly warnings: Warnings },
  query: URLSearchParams,
): Promise<{ readonly status: 200 | 503; readonly body: object }> {
  const withStore = !query.getAll('exclude').includes('store');
  const reason = await ready(withStore);
  if (reason !== null) return { status: 503, body: { status: 'not ready', reason } };
  // The warnings are read from the store, which may just have failed.
  const told = withStore ? await warnings().catch(() => []) : [];
  return { status: 200, body: { status: 'ready', ...(told.length > 0 && { warnings: told }) } };
}
