/**
 * Why a process cannot do its work; null if it can.
 * @param withStore whether an outage of the store counts
 */
export type Ready = (withStore: boolean) => Promise<string | null>;

/**
 * The answer to `/readyz`. With `?exclude=store` an outage of the store does not count: proxies ask so, because it takes
 * the store from every process, and a process without it still answers errors as the contract says, and reads where
 * the store is only full.
 */
export async function readinessOf(
  ready: Ready,
  query: URLSearchParams,
): Promise<{ readonly status: 200 | 503; readonly body: object }> {
  const reason = await ready(!query.getAll('exclude').includes('store'));
  return reason === null
    ? { status: 200, body: { status: 'ready' } }
    : { status: 503, body: { status: 'not ready', reason } };
}
