// Runs once, as root, before the other containers of the profile `production`. Makes the key with which the members of the
// replica set authenticate each other, and a self-signed certificate for the proxy. Keeps existing files, but renews a
// certificate a month before it expires.
import { randomBytes, X509Certificate } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { issue } from '../../scripts/authority-simulator/certificates.ts';

/** Users of the images of MongoDB and HAProxy. */
const MONGODB = 999;
const HAPROXY = 99;

const unset = ['MASTER_KEY', 'MONGODB_PASSWORD', 'MONGODB_ADMIN_PASSWORD'].filter((name) => !process.env[name]);
if (unset.length > 0) {
  console.error(`Set ${unset.join(', ')} (docs/operations.md, "Containers").`);
  process.exit(2);
}

/** Writes a file that only `user` can read, whole or not at all. */
function put(file: string, content: string, user: number): void {
  writeFileSync(`${file}.new`, content, { mode: 0o400 });
  chownSync(`${file}.new`, user, user);
  renameSync(`${file}.new`, file);
}

const key = '/keys/mongodb.key';
if (!existsSync(key)) put(key, randomBytes(756).toString('base64'), MONGODB);

const DAY_MS = 86_400_000;
const certificate = '/tls/self-signed.pem';
if (!existsSync(certificate) || endOf(certificate) < Date.now() + 30 * DAY_MS) {
  const { hostname } = new URL(process.env.PUBLIC_URL ?? 'https://localhost');
  const made = issue(hostname, null, {
    ...{ ca: false, usage: KeyUsageFlags.digitalSignature, tls: 'server', hosts: [hostname] },
    ...{ from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + 365 * DAY_MS) },
  });
  const key = made.privateKey.export({ type: 'pkcs8', format: 'pem' });
  put(certificate, `${made.certificate}${key}`, HAPROXY);
}

/** When a certificate ends, milliseconds since 1970. */
function endOf(file: string): number {
  return Date.parse(new X509Certificate(readFileSync(file)).validTo);
}
