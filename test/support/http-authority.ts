import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SimulatorOptions } from '../../scripts/authority-simulator/options.ts';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import {
  createHttpAuthority,
  type HttpAuthority,
  type HttpAuthorityParts,
  type HttpAuthoritySettings,
} from '../../src/adapters/authority/http/authority-http.ts';
import {
  type ClientIdentity,
  type CredentialStore,
  openCredentials,
} from '../../src/adapters/authority/http/credentials.ts';
import { verifySignedDocument } from '../../src/adapters/xades/verify-document.ts';
import { type LiveAuthority, openAuthority } from '../../src/app/authority.ts';
import { readConfig } from '../../src/config.ts';
import type { CertificateAuthority } from './certificate-authority.ts';

export interface OpenHttpAuthority {
  readonly authority: HttpAuthority;
  readonly credentials: CredentialStore;
  /** The files of the settings. */
  readonly files: { readonly ca: string; readonly client: string; readonly key: string };
  readonly log: { readonly level: string; readonly message: string; readonly fields: object }[];
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Key and certificate as PEM, in place of a P12 file. */
  readonly client?: string;
  readonly clientKey?: KeyObject;
  readonly tokenUrl?: string;
  readonly settings?: Partial<HttpAuthoritySettings>;
  readonly parts?: Partial<HttpAuthorityParts>;
}

/** Opens the adapter, with its files in a temporary folder and time limits that only a hanging request exceeds. */
export async function openHttpAuthority(
  server: { readonly url: string },
  ca: Pick<CertificateAuthority, 'certificate'>,
  { client, clientKey, tokenUrl, settings, parts }: OpenOptions = {},
): Promise<OpenHttpAuthority> {
  const folder = mkdtempSync(join(tmpdir(), 'fatoura-authority-'));
  const files = { ca: join(folder, 'ca.pem'), client: join(folder, 'client.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.ca, ca.certificate);
  if (client !== undefined) writeFileSync(files.client, client);
  if (clientKey) writeFileSync(files.key, clientKey.export({ type: 'pkcs8', format: 'pem' }));
  const log: OpenHttpAuthority['log'][number][] = [];
  const logger = {
    warn: (fields: object, message: string) => void log.push({ level: 'warn', message, fields }),
    info: (fields: object, message: string) => void log.push({ level: 'info', message, fields }),
  };
  const credentials = await openCredentials(
    {
      ca: files.ca,
      clientP12: client === undefined ? null : { file: files.client, passphrase: '' },
      clientKey: clientKey ? files.key : null,
    },
    { readP12: readPem, log: logger, checkMs: 0 },
  );
  const authority = createHttpAuthority(
    {
      url: server.url,
      token: tokenUrl === undefined ? null : { url: tokenUrl, clientId: 'fatoura' },
      concurrency: 16,
      ...settings,
    },
    {
      credentials,
      log: logger,
      connection: { connectTimeoutMs: 40_000, answerTimeoutMs: 50_000 },
      readReceipt: async () => ({ kind: 'invalid', message: 'no reader' }),
      ...parts,
    },
  );
  return {
    authority,
    credentials,
    files,
    log,
    async close() {
      await authority.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Reads PEM instead of PKCS#12, which another test covers. */
async function readPem(file: string): Promise<ClientIdentity> {
  const pem = await readFile(file, 'utf8');
  return { privateKey: createPrivateKey(pem), certificateChain: [new X509Certificate(pem)] };
}

/** Opens the adapter as the service composes it, with its own simulator. */
export async function openSimulated(
  options: SimulatorOptions = {},
): Promise<LiveAuthority & { readonly simulator: Simulator }> {
  const simulator = await startSimulator(options);
  const { SIGNING_P12: _file, SIGNING_P12_PASSPHRASE: _passphrase, ...settings } = simulator.settings;
  const log = { warn: () => undefined, info: () => undefined };
  const live = await openAuthority(readConfig(settings), { log, verify: verifySignedDocument });
  if (live === null) throw new Error('the settings name no authority');
  return {
    ...live,
    simulator,
    async close() {
      await live.close();
      await simulator.close();
    },
  };
}
