import type { Config } from '../config.ts';

/**
 * From now on, what this process fetches from PUBLIC_URL or SANDBOX_URL comes from the service at `address`, asked as a proxy in front of
 * it asks: test keys are taken at the sandbox's host alone, and neither names nor proxy need be in place yet.
 */
export async function callDirectly({ publicUrl, sites }: Config, address: string): Promise<void> {
  if (publicUrl === null) return;
  const { getGlobalDispatcher, setGlobalDispatcher } = await import('undici');
  const fronts = [publicUrl, sites?.test ?? publicUrl].map((url) => new URL(url));
  const direct = getGlobalDispatcher().compose((dispatch) => (options, handler) => {
    const front = fronts.find(({ origin }) => origin === String(options.origin));
    if (front === undefined) return dispatch(options, handler);
    const headers = { ...(options.headers as Record<string, string>), host: front.host };
    // A proxy that serves it below a path takes that off.
    const below = front.pathname.replace(/\/$/, '');
    const path = options.path.startsWith(`${below}/`) ? options.path.slice(below.length) : options.path;
    return dispatch({ ...options, origin: address, path, headers }, handler);
  });
  setGlobalDispatcher(direct);
}
