import { once } from 'node:events';
import { createServer } from 'node:net';
import type { OpenStore } from '../app/store.ts';
import type { Config } from '../config.ts';
import type { Finding } from './doctor-checks.ts';
import { serviceAddress, serviceState } from './service-address.ts';

/**
 * Whether the service runs, or can be started.
 * @param store what {@link checkStore} found: only one process at a time serves an embedded store
 */
export async function checkService(config: Config, store: OpenStore['kind'] | null): Promise<Finding> {
  const subject = 'service';
  if (config.role === 'worker') return { subject, state: 'works', found: 'listens nowhere (ROLE worker)' };
  const url = serviceAddress(config);
  const answer = url === null ? null : await serviceState(url);
  if (answer !== null) {
    if (store === 'own engine') {
      return {
        subject,
        state: 'fails',
        found: `a service answers at ${url}, and it is not one of this data folder`,
        advice: 'Set PORT to a free port, or DATA_DIR to the folder of that service.',
      };
    }
    if (answer === 'ready') return { subject, state: 'works', found: `answers at ${url}` };
    return { subject, state: 'warns', found: `answers at ${url} and is not ready: ${answer}`, advice: 'Read its log.' };
  }
  const refusal = await listeningRefusal(config);
  if (refusal !== null) return { subject, state: 'fails', ...refusal };
  if (store === 'running engine') {
    return {
      subject,
      state: 'fails',
      found: `does not listen at ${url ?? 'a known port (PORT 0)'}, and npm start fails: another process serves the data folder`,
      advice: 'Set PORT to that of the running service, end that process, or set DATA_DIR to another folder.',
    };
  }
  const found = url === null ? 'takes any free port (PORT 0)' : `does not run; npm start serves at ${url}`;
  return { subject, state: 'works', found };
}

/** Listens for a moment, as the service would. @returns why that can't be; null: it can */
async function listeningRefusal({ host, port }: Config): Promise<Pick<Finding, 'found' | 'advice'> | null> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'EADDRINUSE'
      ? { found: `something else listens on port ${port} of ${host}`, advice: 'End it, or set PORT to a free port.' }
      : { found: `can not listen on port ${port} of ${host}: ${message}`, advice: 'Correct HOST and PORT.' };
  } finally {
    server.close();
  }
}
