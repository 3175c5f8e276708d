import { execFileSync, spawnSync } from 'node:child_process';
import type { KeyObject, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Handle, loadPkcs11Js, type Pkcs11Module } from '../../src/adapters/signing-key/pkcs11js.ts';

const MODULES = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so'];
const modulePath = MODULES.find((path) => existsSync(path));

function whatIsMissing(): string | null {
  if (modulePath === undefined || spawnSync('softhsm2-util', ['--version']).error) {
    return 'SoftHSM is not on this machine (Debian package softhsm2): skipped';
  }
  try {
    createRequire(import.meta.url).resolve('pkcs11js');
    return null;
  } catch {
    return 'the npm package pkcs11js is not installed (npm install --no-save --save-prod pkcs11js): skipped';
  }
}

/** The reason to skip tests with an HSM; null if they run. */
export const WITHOUT_HSM = whatIsMissing();

export const PIN = '4321';

const CKF_RW_SESSION = 2;
const CKS_RW_USER_FUNCTIONS = 3;
const CKA_TOKEN = 1;
const CKA_CERTIFICATE_TYPE = 0x80;
const CKA_SUBJECT = 0x101;
const CKA_PRIVATE = 2;
const CKA_KEY_TYPE = 0x100;
const CKA_SENSITIVE = 0x103;
const CKA_SIGN = 0x108;
const CKA_EC_PARAMS = 0x180;
const CKK_EC = 3;
/** DER of the object identifier of P-256. */
const P256 = Buffer.from('06082a8648ce3d030107', 'hex');

type WritableModule = Pkcs11Module & {
  C_CreateObject(session: Handle, template: { type: number; value: Buffer | number | string | boolean }[]): Handle;
};

export interface SoftHsm {
  readonly folder: string;
  /** A URI of RFC 7512, with the PIN in a file. */
  uri(label: string): string;
  importKey(label: string, id: string, key: KeyObject): Promise<void>;
  /** Imports a P-256 key that requires the PIN for each signature (CKA_ALWAYS_AUTHENTICATE). */
  importCarefulKey(label: string, id: string, key: KeyObject): Promise<void>;
  importCertificate(label: string, id: string, certificate: X509Certificate): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a software HSM with one token, `fatoura`. There can be only one per process, because the process's environment
 * configures its library.
 */
export async function startSoftHsm(): Promise<SoftHsm> {
  const folder = await mkdtemp(join(tmpdir(), 'hsm-'));
  await mkdir(join(folder, 'tokens'));
  await writeFile(
    join(folder, 'softhsm2.conf'),
    `directories.tokendir = ${join(folder, 'tokens')}\nobjectstore.backend = file\n`,
  );
  await writeFile(join(folder, 'pin'), `${PIN}\n`);
  process.env.SOFTHSM2_CONF = join(folder, 'softhsm2.conf');
  const util = (...options: string[]) => execFileSync('softhsm2-util', options, { stdio: 'pipe' });
  util('--init-token', '--free', '--label', 'fatoura', '--pin', PIN, '--so-pin', '0000');
  async function create(template: Parameters<WritableModule['C_CreateObject']>[1]): Promise<void> {
    const library = await loadPkcs11Js();
    const module = new library.PKCS11() as unknown as WritableModule;
    module.load(modulePath ?? '');
    try {
      module.C_Initialize({ flags: library.CKF_OS_LOCKING_OK });
    } catch (error) {
      if ((error as { code?: number }).code !== library.CKR_CRYPTOKI_ALREADY_INITIALIZED) throw error;
    }
    const slot = module.C_GetSlotList(true).find((each) => module.C_GetTokenInfo(each).label.trim() === 'fatoura');
    if (!slot) throw new Error('the token is not there');
    const session = module.C_OpenSession(slot, library.CKF_SERIAL_SESSION | CKF_RW_SESSION);
    try {
      // All sessions of the process share one log-in.
      if (module.C_GetSessionInfo(session).state !== CKS_RW_USER_FUNCTIONS)
        module.C_Login(session, library.CKU_USER, PIN);
      module.C_CreateObject(session, [{ type: CKA_TOKEN, value: true }, ...template]);
    } finally {
      module.C_CloseSession(session);
    }
  }
  return {
    folder,
    uri: (label) =>
      `pkcs11:token=fatoura;object=${label}?module-path=${modulePath}&pin-source=file:${join(folder, 'pin')}`,
    async importKey(label, id, key) {
      const file = join(folder, `${label}.key`);
      await writeFile(file, key.export({ type: 'pkcs8', format: 'pem' }));
      util('--import', file, '--token', 'fatoura', '--label', label, '--id', id, '--pin', PIN);
    },
    // softhsm2-util can import keys, but cannot set CKA_ALWAYS_AUTHENTICATE.
    async importCarefulKey(label, id, key) {
      const library = await loadPkcs11Js();
      await create([
        { type: library.CKA_CLASS, value: library.CKO_PRIVATE_KEY },
        { type: CKA_KEY_TYPE, value: CKK_EC },
        { type: library.CKA_LABEL, value: label },
        { type: library.CKA_ID, value: Buffer.from(id, 'hex') },
        { type: CKA_PRIVATE, value: true },
        { type: CKA_SENSITIVE, value: true },
        { type: CKA_SIGN, value: true },
        { type: library.CKA_ALWAYS_AUTHENTICATE, value: true },
        { type: CKA_EC_PARAMS, value: P256 },
        { type: library.CKA_VALUE, value: Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url') },
      ]);
    },
    async importCertificate(label, id, certificate) {
      const library = await loadPkcs11Js();
      await create([
        { type: library.CKA_CLASS, value: library.CKO_CERTIFICATE },
        { type: CKA_CERTIFICATE_TYPE, value: 0 },
        { type: CKA_SUBJECT, value: Buffer.from(label) },
        { type: library.CKA_LABEL, value: label },
        { type: library.CKA_ID, value: Buffer.from(id, 'hex') },
        { type: library.CKA_VALUE, value: certificate.raw },
      ]);
    },
    async close() {
      delete process.env.SOFTHSM2_CONF;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
