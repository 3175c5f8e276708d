import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { createCertificateAuthority } from './certificate-authority.ts';
import { freePorts } from './free-ports.ts';

const CONFIGURATION = fileURLToPath(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url));

/** Debian installs it in a folder that an ordinary user's PATH lacks. */
const SEARCHED = `${process.env.PATH}:/usr/sbin`;

/** Whether HAProxy is installed (Debian: `apt-get install haproxy`). */
export const HAS_HAPROXY = spawnSync('haproxy', ['-v'], { env: { PATH: SEARCHED } }).status === 0;

/** HAProxy with the repository's configuration, or with a changed one. */
export interface TlsProxy {
  /** `https://localhost:…` */
  readonly url: string;
  /** Connections that trust the proxy's certificate. */
  readonly agent: Agent;
  /** Its log: failures, and processes that it took out of service or back in. */
  readonly log: readonly string[];
  close(): Promise<void>;
}

/**
 * Starts the proxy in front of two addresses (`127.0.0.1:3000`), and waits until it answers.
 * @param folder for the certificate and the configuration
 * @param changed changes the repository's configuration
 */
export async function startProxy(
  folder: string,
  [first, second]: readonly [string, string],
  changed = (configuration: string) => configuration,
): Promise<TlsProxy> {
  const authority = await createCertificateAuthority('Proxy test CA');
  const { key, cert } = await authority.issue('localhost');
  await mkdir(join(folder, 'tls'));
  await writeFile(join(folder, 'tls', 'localhost.pem'), cert + key);
  const configuration = join(folder, 'haproxy.cfg');
  await writeFile(configuration, changed(await readFile(CONFIGURATION, 'utf8')));
  const [https, http] = await freePorts(2);
  const child = spawn('haproxy', ['-db', '-f', configuration], {
    env: {
      PATH: SEARCHED,
      CERTIFICATE: join(folder, 'tls'),
      HTTPS_BIND: `127.0.0.1:${https}`,
      HTTP_BIND: `127.0.0.1:${http}`,
      API_1: first,
      API_2: second,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => log.push(...text.trimEnd().split('\n')));
  const url = `https://localhost:${https}`;
  const agent = new Agent({ connect: { ca: authority.certificate, checkServerIdentity: isLocalhost }, bodyTimeout: 0 });
  await answers(child, url, agent, log);
  return {
    url,
    agent,
    log,
    async close() {
      child.kill('SIGTERM');
      await agent.destroy();
    },
  };
}

/** Checks the proxy's certificate for localhost, independent of the header Host. */
const isLocalhost = (_host: string, certificate: PeerCertificate) => checkServerIdentity('localhost', certificate);

async function answers(child: ChildProcess, url: string, dispatcher: Agent, log: readonly string[]): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`haproxy ended with code ${child.exitCode}: ${log.join('\n')}`);
    const { statusCode, body } = await dispatcher
      .request({ origin: url, path: '/readyz', method: 'GET' })
      .catch(() => ({ statusCode: 0, body: null }));
    await body?.dump();
    if (statusCode === 200) return;
    await sleep(200);
  }
}
