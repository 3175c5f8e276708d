import { once } from 'node:events';
import { createServer } from 'node:net';
import type { OpenStore } from '../app/store.ts';
import type { Config } from '../config.ts';
import { lacksTrustedProxy } from '../domain/api-key/admission.ts';
import type { Finding } from './doctor-checks.ts';
import { serviceAddress, serviceState } from './service-address.ts';

/**
 * Checks that the service runs or can be started.
 * @param store the kind from {@link checkStore}; only one process at a time can serve an embedded store
 */
export async function checkService(config: Config, store: OpenStore['kind'] | null): Promise<Finding> {
  const subject = 'service';
  if (config.role === 'worker') return { subject, state: 'works', found: 'does not listen (ROLE worker)' };
  const url = serviceAddress(config);
  const answer = url === null ? null : await serviceState(url);
  if (answer !== null) {
    if (store === 'own engine') {
      return {
        subject,
        state: 'fails',
        found: `the service that answers at ${url} uses another data folder`,
        advice: 'Set PORT to a free port, or DATA_DIR to the folder of that service.',
      };
    }
    const { reason, warnings } = answer;
    if (reason !== null) {
      return {
        subject,
        state: 'warns',
        found: `answers at ${url} but is not ready: ${reason}`,
        advice: 'Check its log.',
      };
    }
    if (warnings.length === 0) return { subject, state: 'works', found: `answers at ${url}` };
    return { subject, state: 'warns', found: `answers at ${url}, but ${warnings.join('; ')}` };
  }
  const refusal = await listeningRefusal(config);
  if (refusal !== null) return { subject, state: 'fails', ...refusal };
  if (store === 'running engine') {
    return {
      subject,
      state: 'fails',
      found: `does not listen at ${url ?? 'a known port (PORT 0)'}, but another process uses the data folder, so npm start would fail`,
      advice: 'Set PORT to that of the running service, stop that process, or set DATA_DIR to another folder.',
    };
  }
  const found = url === null ? 'listens on any free port (PORT 0)' : `not running; npm start will serve at ${url}`;
  return { subject, state: 'works', found };
}

/** Checks that the service is configured for the proxy that terminates HTTPS. */
export function checkProxy({ publicUrl, trustedProxies }: Pick<Config, 'publicUrl' | 'trustedProxies'>): Finding {
  const subject = 'proxy';
  if (!lacksTrustedProxy(publicUrl, trustedProxies)) {
    const found = trustedProxies === 0 ? 'none is trusted, and PUBLIC_URL needs none' : `${trustedProxies} trusted`;
    return { subject, state: 'works', found };
  }
  return {
    subject,
    state: 'warns',
    found: `PUBLIC_URL is ${publicUrl}, so HTTPS ends at a proxy, but TRUST_PROXY is not set: live keys are refused there, and all clients share one limit`,
    advice: 'Set TRUST_PROXY to the number of proxies in front, and have them set X-Forwarded-For and -Proto.',
  };
}

/** Opens the service's port for a moment. @returns why that failed; null if it worked */
async function listeningRefusal({ host, port }: Config): Promise<Pick<Finding, 'found' | 'advice'> | null> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'EADDRINUSE'
      ? { found: `another program listens on port ${port} of ${host}`, advice: 'Stop it, or set PORT to a free port.' }
      : { found: `cannot listen on port ${port} of ${host}: ${message}`, advice: 'Correct HOST and PORT.' };
  } finally {
    server.close();
  }
}
