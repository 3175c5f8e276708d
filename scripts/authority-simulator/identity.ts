import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { DAY_MS } from '../../src/domain/durations.ts';
import { type Issuer, issue } from './certificates.ts';

/** Names under which the server's certificate is valid; `simulator` is that of its container. */
const HOSTS = ['localhost', 'simulator', '127.0.0.1', '::1'];
export const TEN_YEARS = 3650 * DAY_MS;

/**
 * The keys and certificates that can be replaced while the simulator runs. `foreign-server`: the server's certificate
 * comes from an authority that the client does not know, until `server` is rotated.
 */
export const ROTATABLE = ['server', 'foreign-server', 'receipts', 'client', 'client-key', 'signing'] as const;
export type Rotatable = (typeof ROTATABLE)[number];

/** A private key with its certificate. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly certificate: X509Certificate;
}

/** The keys and certificates of a simulator. Fields with a getter change when they are rotated. */
export interface Identity {
  /** The certification authority of everything else: `DGI_CA`. */
  readonly ca: X509Certificate;
  readonly server: KeyPair;
  /** Signs receipts and cleared documents. */
  readonly receipts: KeyPair;
  /** SHA-256 fingerprint of the only accepted client certificate, as `X509Certificate.fingerprint256` writes it. */
  readonly clientFingerprint: string;
  /** Verifies the assertions of the client. */
  readonly clientPublicKey: KeyObject;
  readonly secrets: Secrets;
  /** Paths of the files for the service. */
  readonly files: Readonly<Record<'ca' | 'clientP12' | 'clientKey' | 'signingP12', string>>;
  /** Replaces a key; files that the service reads are replaced in one step. The old key is no longer accepted. */
  rotate(what: Rotatable): Promise<void>;
}

interface Secrets {
  readonly clientId: string;
  readonly clientP12Passphrase: string;
  readonly signingP12Passphrase: string;
  readonly callbackSecret: string;
}

/** Options for making keys and certificates. */
export interface IdentityForm {
  /** Algorithm of the client's assertions; fixed when the keys are made. */
  readonly clientKey: 'ES256' | 'RS256';
  /** Validity of the client's and the signer's certificates, from when they are made, milliseconds. */
  readonly certificateLife: number;
}

/**
 * Reads the keys of `folder`; makes them when it does not exist. The folder appears in one step, so that a simulator
 * which is killed while it makes them makes them again.
 */
export async function openIdentity(folder: string, form: IdentityForm): Promise<Identity> {
  const exists = await readFile(join(folder, 'secrets.json')).then(
    () => true,
    () => false,
  );
  if (!exists) {
    const draft = `${folder}.${randomBytes(6).toString('hex')}`;
    await mkdir(draft, { recursive: true, mode: 0o700 });
    await makeIdentity(draft, form);
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  }
  return readIdentity(folder, form);
}

async function makeIdentity(folder: string, form: IdentityForm): Promise<void> {
  const ca = issue('Authority simulator CA', null, validity());
  const secrets: Secrets = {
    clientId: `fatoura-${randomBytes(4).toString('hex')}`,
    clientP12Passphrase: randomBytes(12).toString('base64url'),
    signingP12Passphrase: randomBytes(12).toString('base64url'),
    callbackSecret: `whsec_${randomBytes(32).toString('base64')}`,
  };
  await Promise.all([
    put(folder, 'ca.pem', String(ca.certificate)),
    put(folder, 'ca-key.pem', pemOf(ca.privateKey)),
    put(folder, 'secrets.json', JSON.stringify(secrets)),
    writeNew(folder, 'server', ca, secrets, form),
    writeNew(folder, 'receipts', ca, secrets, form),
    writeNew(folder, 'client', ca, secrets, form),
    writeNew(folder, 'client-key', ca, secrets, form),
    writeNew(folder, 'signing', ca, secrets, form),
  ]);
}

async function readIdentity(folder: string, { certificateLife }: IdentityForm): Promise<Identity> {
  const text = (name: string) => readFile(join(folder, name), 'utf8');
  const secrets = JSON.parse(await text('secrets.json')) as Secrets;
  const ca: Issuer = {
    name: 'Authority simulator CA',
    privateKey: createPrivateKey(await text('ca-key.pem')),
    certificate: new X509Certificate(await text('ca.pem')),
  };
  const keyPair = async (name: string): Promise<KeyPair> => {
    const pem = await text(name);
    return { privateKey: createPrivateKey(pem), certificate: new X509Certificate(pem) };
  };
  const load = async () => ({
    server: await keyPair('server.pem'),
    receipts: await keyPair('receipts.pem'),
    clientFingerprint: new X509Certificate(await text('client.pem')).fingerprint256,
    clientPublicKey: createPublicKey(await text('client-key.pem')),
  });
  let current = await load();
  return {
    ca: ca.certificate,
    get server() {
      return current.server;
    },
    get receipts() {
      return current.receipts;
    },
    get clientFingerprint() {
      return current.clientFingerprint;
    },
    get clientPublicKey() {
      return current.clientPublicKey;
    },
    secrets,
    files: {
      ca: join(folder, 'ca.pem'),
      clientP12: join(folder, 'client.p12'),
      clientKey: join(folder, 'client-key.pem'),
      signingP12: join(folder, 'signing.p12'),
    },
    async rotate(what) {
      const clientKey = current.clientPublicKey.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256';
      await writeNew(folder, what, ca, secrets, { clientKey, certificateLife });
      current = await load();
    },
  };
}

/** Makes a key, and its certificate if it has one, and writes the files. */
async function writeNew(
  folder: string,
  what: Rotatable,
  ca: Issuer,
  secrets: Secrets,
  { clientKey, certificateLife }: IdentityForm,
): Promise<void> {
  const usage = KeyUsageFlags.digitalSignature;
  switch (what) {
    case 'server':
    case 'foreign-server': {
      const issuer = what === 'server' ? ca : issue('Another CA', null, validity());
      const made = issue('localhost', issuer, { ...validity(), ca: false, usage, tls: 'server', hosts: HOSTS });
      return put(folder, 'server.pem', pemOf(made.privateKey) + made.certificate);
    }
    case 'receipts': {
      const signs = usage | KeyUsageFlags.nonRepudiation;
      const made = issue('Authority simulator receipts', ca, { ...validity(), ca: false, usage: signs });
      return put(folder, 'receipts.pem', pemOf(made.privateKey) + made.certificate);
    }
    case 'client': {
      const made = issue(secrets.clientId, ca, { ...validity(certificateLife), ca: false, usage, tls: 'client' });
      await putPkcs12(folder, 'client.p12', made, ca, secrets.clientP12Passphrase);
      return put(folder, 'client.pem', String(made.certificate));
    }
    case 'client-key': {
      const { privateKey } =
        clientKey === 'ES256'
          ? await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
          : await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
      return put(folder, 'client-key.pem', pemOf(privateKey));
    }
    case 'signing': {
      const made = issue('Fatoura signing (simulator)', ca, {
        ...validity(certificateLife),
        ca: false,
        usage: usage | KeyUsageFlags.nonRepudiation,
      });
      return putPkcs12(folder, 'signing.p12', made, ca, secrets.signingP12Passphrase);
    }
  }
}

async function putPkcs12(folder: string, name: string, made: Issuer, ca: Issuer, passphrase: string): Promise<void> {
  // Loaded here only: it takes a third of the time of a start.
  const { writePkcs12 } = await import('./pkcs12.ts');
  const chain = [made.certificate, ca.certificate];
  await put(folder, name, await writePkcs12({ privateKey: made.privateKey, chain }, passphrase));
}

/** Whole seconds; from before any clock that a fault sets back. @param life milliseconds from now */
function validity(life = TEN_YEARS): { from: Date; to: Date } {
  const now = Math.floor(Date.now() / 1000) * 1000;
  return { from: new Date(now - 30 * DAY_MS), to: new Date(now + life) };
}

function pemOf(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }));
}

async function put(folder: string, name: string, content: string | Uint8Array): Promise<void> {
  const draft = join(folder, `${name}.${randomBytes(6).toString('hex')}`);
  await writeFile(draft, content, { mode: 0o600 });
  await rename(draft, join(folder, name));
}
