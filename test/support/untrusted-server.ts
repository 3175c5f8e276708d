import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority } from './certificate-authority.ts';

/** A server whose certificate no client trusts. */
export interface Untrusted {
  readonly host: string;
  /** Number of connections so far. */
  connections(): number;
  close(): void;
}

export async function startUntrusted(): Promise<Untrusted> {
  const authority = await createCertificateAuthority('Nobody');
  let connections = 0;
  const server = createServer(await authority.issue('localhost'), (_, answer) => void answer.end())
    .on('connection', () => connections++)
    .listen(0);
  await once(server, 'listening');
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  return { host, connections: () => connections, close: () => server.close() };
}
