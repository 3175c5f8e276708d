import { createServer, type Server } from 'node:https';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createWebhookSender, type SenderOptions } from '../../../src/adapters/webhook-http/webhook-sender.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../support/certificate-authority.ts';

// Deliveries over TLS to a receiver on loopback, to which every name resolves.

let ours: CertificateAuthority;
let strange: CertificateAuthority;
const servers: Server[] = [];

beforeAll(async () => {
  [ours, strange] = await Promise.all([
    createCertificateAuthority('Trusted by the test'),
    createCertificateAuthority('Trusted by nobody'),
  ]);
});
afterEach(() => {
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
});
afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

/** Starts a receiver with this certificate that records the requests. */
async function receiver(identity: { key: string; cert: string }) {
  const seen: { servername: unknown; host: string | undefined; body: string }[] = [];
  const server = createServer(identity, (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push({ servername: (request.socket as TLSSocket).servername, host: request.headers.host, body });
      response.writeHead(202).end('taken');
    });
  });
  server.on('tlsClientError', () => undefined);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { seen, port: (server.address() as { port: number }).port };
}

async function deliver(url: string, options: Partial<SenderOptions> = { ca: ours.certificate }) {
  const sender = createWebhookSender({
    allowInsecure: true,
    // A limit that only a hanging request exceeds.
    connectTimeoutMs: 40_000,
    totalTimeoutMs: 50_000,
    resolve: (_host, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    ...options,
  });
  const result = await sender.send({ url, headers: {}, body: '{"a":1}' });
  await sender.close();
  return result;
}

it('a certificate for the name by a trusted authority: the delivery arrives', async () => {
  const { port, seen } = await receiver(await ours.issue('receiver.example'));
  const result = await deliver(`https://receiver.example:${port}/hook`);
  expect(result).toMatchObject({ status: 202, body: 'taken', failure: null });
  expect(seen).toEqual([{ servername: 'receiver.example', host: `receiver.example:${port}`, body: '{"a":1}' }]);
});

it.each([
  ['for another name', 'other.example', false],
  ['that has expired', 'receiver.example', true],
])('a certificate %s: nothing is sent', async (_what, host, expired) => {
  const { port, seen } = await receiver(await ours.issue(host, expired));
  const result = await deliver(`https://receiver.example:${port}/hook`);
  expect(result).toMatchObject({ status: null, failure: { code: 'tls_failed' } });
  expect(seen).toEqual([]);
});

it('a certificate of an unknown authority: nothing is sent, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  const { port, seen } = await receiver(await strange.issue('receiver.example'));
  for (const setting of [undefined, '0']) {
    if (setting !== undefined) process.env.NODE_TLS_REJECT_UNAUTHORIZED = setting;
    const result = await deliver(`https://receiver.example:${port}/hook`);
    expect(result).toMatchObject({ status: null, failure: { code: 'tls_failed' } });
  }
  expect(seen).toEqual([]);
});

it('a receiver without TLS is a failure', async () => {
  const { port } = await receiver(await ours.issue('receiver.example'));
  const plain = await deliver(`http://receiver.example:${port}/hook`);
  expect(plain).toMatchObject({ status: null, failure: { code: 'connection_broken' } });
});

it("the given authorities are trusted in addition to the system's", async () => {
  const { port } = await receiver(await strange.issue('receiver.example'));
  const system = getCACertificates('default');
  setDefaultCACertificates([strange.certificate]);
  const result = await deliver(`https://receiver.example:${port}/hook`);
  setDefaultCACertificates(system);
  expect(result).toMatchObject({ status: 202, failure: null });
});

it('a socket connected to another address than the checked one: nothing is sent', async () => {
  const { port, seen } = await receiver(await ours.issue('receiver.example'));
  let reads = 0;
  const turncoat = {
    family: 4,
    get address() {
      return reads++ === 0 ? '93.184.215.14' : '127.0.0.1';
    },
  };
  const result = await deliver(`https://receiver.example:${port}/hook`, {
    ca: ours.certificate,
    allowInsecure: false,
    resolve: (_host, done) => done(null, [turncoat]),
  });
  expect(result).toMatchObject({ status: null, failure: { code: 'refused_address' } });
  expect(result.failure?.message).toContain('127.0.0.1');
  expect(reads).toBeGreaterThan(1);
  expect(seen).toEqual([]);
});
