import type { Config } from '../config.ts';

/**
 * Redirects this process's requests to PUBLIC_URL and SANDBOX_URL to the service at `address`, with the Host header
 * that a reverse proxy would send. DNS names and the proxy need not exist yet for that. The service accepts test keys
 * only at the sandbox's host.
 */
export async function callDirectly({ publicUrl, sites }: Config, address: string): Promise<void> {
  if (publicUrl === null) return;
  const { getGlobalDispatcher, setGlobalDispatcher } = await import('undici');
  const fronts = [publicUrl, sites?.test ?? publicUrl].map((url) => new URL(url));
  const direct = getGlobalDispatcher().compose((dispatch) => (options, handler) => {
    const front = fronts.find(({ origin }) => origin === String(options.origin));
    if (front === undefined) return dispatch(options, handler);
    const headers = { ...(options.headers as Record<string, string>), host: front.host };
    return dispatch({ ...options, origin: address, headers }, handler);
  });
  setGlobalDispatcher(direct);
}
