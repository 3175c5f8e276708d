import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Whether OpenSSL, which provides the time-stamping authority, is installed. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
export const WITHOUT_OPENSSL = 'openssl is not on this machine (Debian package openssl): skipped';

export interface TestAuthority {
  readonly url: string;
  /** Number of requests so far. */
  readonly requests: readonly IncomingMessage[];
  close(): Promise<void>;
}

let generated: string | null = null;

/** The RSA key of every time-stamping authority of this process, as PEM. Generating one takes longer than the rest. */
function signingKey(): string {
  const encoding = { type: 'pkcs8', format: 'pem' } as const;
  generated ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(encoding).toString();
  return generated;
}

/**
 * Starts a time-stamping authority on loopback, which answers each request by `openssl ts`.
 * @param options.usage extended key usage of its certificate
 * @param options.answer replaces the correct response; `null` leaves the request unanswered
 */
export async function startTimeStampAuthority({
  usage = 'critical,timeStamping',
  answer = (right: Buffer): { status?: number; body: Buffer } | null => ({ body: right }),
} = {}): Promise<TestAuthority> {
  const folder = await mkdtemp(join(tmpdir(), 'tsa-'));
  const openssl = (...options: string[]) => promisify(execFile)('openssl', options, { cwd: folder });
  await writeFile(join(folder, 'tsa.cnf'), configuration(usage));
  await writeFile(join(folder, 'key.pem'), signingKey());
  await openssl('req', '-x509', '-key', 'key.pem', '-out', 'cert.pem', '-days', '2', '-config', 'tsa.cnf');
  const requests: IncomingMessage[] = [];
  const answers = new Set<Promise<void>>();
  const answerTo = async (request: IncomingMessage, response: ServerResponse) => {
    const name = randomUUID();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    await writeFile(join(folder, `${name}.tsq`), Buffer.concat(chunks));
    await openssl('ts', '-reply', '-config', 'tsa.cnf', '-queryfile', `${name}.tsq`, '-out', `${name}.tsr`);
    const sent = answer(await readFile(join(folder, `${name}.tsr`)));
    if (sent === null) return;
    response.writeHead(sent.status ?? 200, { 'Content-Type': 'application/timestamp-reply' }).end(sent.body);
  };
  const server = createServer((request, response) => {
    requests.push(request);
    const answered = answerTo(request, response)
      .catch((error: Error) => void response.writeHead(500).end(error.message))
      .finally(() => answers.delete(answered));
    answers.add(answered);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsa`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      // The client may have disconnected while OpenSSL still runs.
      await Promise.all(answers);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const configuration = (usage: string) => `
[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
O = Test
CN = Time stamps
[extensions]
basicConstraints = critical,CA:false
keyUsage = critical,digitalSignature
extendedKeyUsage = ${usage}
[tsa]
default_tsa = authority
[authority]
signer_cert = cert.pem
certs = cert.pem
signer_key = key.pem
signer_digest = sha256
ess_cert_id_alg = sha256
default_policy = 1.2.3.4.1
digests = sha256
serial = serial
clock_precision_digits = 0
`;
