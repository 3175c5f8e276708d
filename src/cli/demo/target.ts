import type { Administration } from '../../app/administration.ts';
import type { App } from '../../app/app.ts';
import type { Config } from '../../config.ts';
import { parseToken } from '../../domain/api-key/api-key.ts';
import type { IssuedKey } from '../../domain/api-key/manage-keys.ts';
import { newId } from '../../domain/ids.ts';
import { type CommandContext, UsageError } from '../command.ts';
import { callDirectly } from '../direct-calls.ts';
import { credentials } from '../greeting.ts';
import { httpUrl, serviceAddress } from '../service-address.ts';
import { type Access, acceptsKey } from './client.ts';
import { readSampleSeller } from './samples.ts';

/** The service to which the samples are sent. */
export interface Target {
  readonly access: Access;
  /** The service as named in the output. */
  readonly description: string;
  /** Revokes the demo's key and stops the service that the demo started, if any. */
  close(): Promise<void>;
}

/**
 * Returns the service at a given address, called with a given key.
 * @throws {UsageError} unless it is a secret test key
 */
export function givenTarget(address: string, secretKey: string): Target {
  const { kind, environment } = parseToken(secretKey) ?? {};
  // A live key would register the samples with the tax authority.
  if (kind !== 'secret' || environment !== 'test') throw new UsageError('--key must be a secret test key: sk_test_…');
  const url = httpUrl(address, '--url').replace(/\/+$/, '');
  return { access: { url, secretKey }, description: url, close: async () => undefined };
}

/**
 * Returns the running service of this configuration, with a key created for the demo. If none runs, starts a service on
 * the same store and a free port.
 */
export async function openTarget(
  config: Config,
  { parts, terminal }: CommandContext,
  signal: AbortSignal,
): Promise<Target> {
  const administration = await (await parts.administration()).openAdministration(config);
  let app: App | null = null;
  let issued: IssuedKey | null = null;
  const secretKey = async () => {
    issued ??= await administration.manageKeys.create(await demoTenant(administration), 'secret', 'test');
    return issued.token;
  };
  const close = async () => {
    try {
      if (issued !== null) await administration.manageKeys.revoke(issued.key.id);
    } finally {
      await app?.close();
      await administration.close();
    }
  };
  try {
    const url = serviceAddress(config);
    // If this process had to start the engine, no running service uses this store.
    if (url !== null && administration.store.kind !== 'own engine') {
      await callDirectly(config, url);
      const access = { url: config.sites?.test ?? url, secretKey: await secretKey() };
      if (await acceptsKey(access, signal)) {
        return { access, description: `the running service at ${url}`, close };
      }
    }
    const address = { host: '127.0.0.1', port: 0, publicUrl: null, sites: null };
    const own: Config = { ...config, ...address, role: 'all', logLevel: 'silent' };
    terminal.print('No service is running: starting one for the demo…\n');
    app = await (await parts.app()).startApp(own, { store: administration.store });
    // Credentials are printed at once, because they are shown only once and an interruption must not lose them.
    const shown = credentials(app.firstStart, url ?? app.url);
    if (shown.length > 0) terminal.print([...shown, ''].join('\n'));
    await app.warm;
    signal.throwIfAborted();
    const access = { url: app.url ?? '', secretKey: await secretKey() };
    const description = `a temporary service at ${access.url}`;
    return { access, description, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Returns the tenant for the demo: the one that the first start made, whose owner sees the samples in the dashboard. If
 * there is none, or it has live keys by now, returns a tenant of the demo's own with a complete profile, which later
 * runs reuse.
 */
async function demoTenant({ tenants, installation }: Administration): Promise<string> {
  const remembered = await installation.demoTenant();
  if (remembered !== null && (await tenants.find(remembered))) {
    const keys = await tenants.keysOf(remembered);
    if (keys.every(({ environment }) => environment === 'test')) return remembered;
  }
  const id = newId('ten');
  await tenants.insert({ id, name: 'npm run demo', profile: await readSampleSeller(), createdAt: new Date() });
  await installation.rememberDemoTenant(id);
  return id;
}
