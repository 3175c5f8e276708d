import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openAuthority } from '../../../src/app/authority.ts';
import { type Config, ConfigError, readConfig } from '../../../src/config.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../support/certificate-authority.ts';
import { makePkcs12 } from '../signing-key/make-pkcs12.ts';

let ca: CertificateAuthority;
let folder: string;
beforeAll(async () => {
  ca = await createCertificateAuthority('Authority of files');
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterEach(() => rm(folder, { recursive: true }));

const log = { warn: () => undefined, info: () => undefined };
const verify = () => Promise.reject(new Error('not needed'));

async function written(name: string, content: string): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

function pem(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }));
}

/** The problems of these settings; empty if they are usable. */
async function problemsOf(change: Partial<NonNullable<Config['authority']>>): Promise<string[]> {
  const { authority } = readConfig({ DGI_URL: 'https://authority.example' });
  if (authority === null) throw new Error('no authority');
  try {
    await (await openAuthority({ authority: { ...authority, ...change } }, { log, verify }))?.close();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n');
  }
}

const tokenOf = (keyFile: string) => ({ url: 'https://authority.example/token', clientId: 'fatoura', keyFile });

it('the problems of all files are reported at once', async () => {
  const problems = await problemsOf({
    ca: await written('ca.pem', 'no certificate'),
    clientP12: { file: join(folder, 'none.p12'), passphrase: '' },
    token: tokenOf(folder),
  });
  expect(problems).toEqual([
    expect.stringMatching(/^DGI_CA: .*ca\.pem.*no certificate in PEM format/),
    expect.stringMatching(/^DGI_CLIENT_P12: the file .*none\.p12 does not exist/),
    expect.stringMatching(/^DGI_CLIENT_KEY: .* is a folder/),
  ]);
});

describe('DGI_CA', () => {
  const use = async (content: string) => problemsOf({ ca: await written('ca.pem', content) });
  it('may hold several certificates, among them an expired one', async () => {
    const { cert } = await ca.issue('old', true);
    expect(await use(`# roots\n${cert}\n${ca.certificate}`)).toEqual([]);
  });
  it('is refused if all have expired', async () => {
    const { cert } = await ca.issue('old', true);
    expect(await use(cert)).toEqual([expect.stringMatching(/all its certificates have expired/)]);
  });
  it('is refused if it ends in the middle of a certificate', async () => {
    expect(await use(ca.certificate + ca.certificate.slice(0, 200))).toEqual([expect.stringMatching(/incomplete/)]);
  });
  it('is refused if it holds something else in the form of a certificate', async () => {
    const wrong = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(await use(ca.certificate + wrong)).toEqual([expect.stringMatching(/certificate 2 cannot be read/)]);
  });
});

describe('DGI_CLIENT_P12', () => {
  it('is opened with its passphrase, and refused with another', async ({ skip }) => {
    const file = makePkcs12(folder, 'client', 'sésame');
    if (file === null) return skip('openssl is not installed: skipped');
    expect(await problemsOf({ clientP12: { file, passphrase: 'sésame' } })).toEqual([]);
    const [problem, ...others] = await problemsOf({ clientP12: { file, passphrase: 'wrong-passphrase' } });
    expect(problem).toMatch(/^DGI_CLIENT_P12: .*cannot be opened with this passphrase/);
    expect(problem).not.toContain('wrong-passphrase');
    expect(others).toEqual([]);
  });
});

describe('DGI_CLIENT_KEY', () => {
  const use = async (content: string) => problemsOf({ token: tokenOf(await written('key.pem', content)) });
  it.each<[string, () => KeyObject]>([
    ['ECDSA P-256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
    ['RSA-2048', () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
  ])('may be %s', async (_name, make) => {
    expect(await use(pem(make()))).toEqual([]);
  });
  it.each<[string, () => KeyObject]>([
    ['ECDSA P-384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
    ['RSA-1024', () => generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey],
    ['Ed25519', () => generateKeyPairSync('ed25519').privateKey],
  ])('may not be %s', async (_name, make) => {
    expect(await use(pem(make()))).toEqual([expect.stringMatching(/ECDSA on P-256 or RSA of 2048 bits or more/)]);
  });
  it('may have no passphrase', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const content = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
    expect(await use(String(content))).toEqual([expect.stringMatching(/openssl pkey/)]);
  });
  it('must be a private key', async () => {
    expect(await use(ca.certificate)).toEqual([expect.stringMatching(/no private key/)]);
  });
});

describe('settings', () => {
  const refusal = (env: Record<string, string>): string[] => {
    try {
      readConfig(env);
      return [];
    } catch (error) {
      return (error as Error).message.split('\n');
    }
  };

  it('none: there is no live authority', () => {
    expect(readConfig({}).authority).toBeNull();
  });

  it('all', () => {
    const DGI_CALLBACK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const env = {
      DGI_URL: 'https://authority.example/api/',
      DGI_CA: 'ca.pem',
      DGI_CLIENT_P12: 'client.p12',
      DGI_TOKEN_URL: 'https://authority.example/token',
      DGI_CLIENT_ID: 'fatoura',
      DGI_CLIENT_KEY: 'key.pem',
      DGI_CALLBACK_SECRET,
      DGI_CONCURRENCY: '4',
      PUBLIC_URL: 'https://fatoura.example.ma',
      HOST: '0.0.0.0',
    };
    expect(readConfig(env).authority).toEqual({
      url: 'https://authority.example/api',
      ca: 'ca.pem',
      clientP12: { file: 'client.p12', passphrase: '' },
      token: { url: 'https://authority.example/token', clientId: 'fatoura', keyFile: 'key.pem' },
      callbackSecret: DGI_CALLBACK_SECRET,
      concurrency: 4,
    });
    expect(readConfig({ DGI_URL: env.DGI_URL }).authority?.concurrency).toBe(16);
  });

  it('wrong values and broken rules are reported together, without secrets', () => {
    const problems = refusal({
      DGI_URL: 'http://authority.example',
      DGI_TOKEN_URL: 'https://user:hidden@authority.example/token',
      DGI_CALLBACK_SECRET: 'whsec_hidden',
      DGI_CONCURRENCY: '0',
      DGI_CLIENT_P12_PASSPHRASE: 'hidden',
      PUBLIC_URL: 'http://fatoura.example.ma',
    });
    expect(problems).toEqual([
      'DGI_URL must be an https:// URL',
      'DGI_TOKEN_URL must have no user, password, query or fragment',
      'DGI_CALLBACK_SECRET must be whsec_ followed by the base64 of 24 to 64 bytes',
      "DGI_CONCURRENCY must be a number from 1 to 1000, not '0'",
      'DGI_CLIENT_P12_PASSPHRASE requires DGI_CLIENT_P12',
      'DGI_CLIENT_ID is required with DGI_TOKEN_URL',
      'DGI_CLIENT_KEY is required with DGI_TOKEN_URL',
      expect.stringMatching(/^PUBLIC_URL must be an https:\/\/ URL with DGI_URL/),
    ]);
  });

  it.each([
    ['DGI_CA', 'ca.pem'],
    ['DGI_CLIENT_P12', 'client.p12'],
    ['DGI_TOKEN_URL', 'https://authority.example/token'],
    ['DGI_CALLBACK_SECRET', `whsec_${Buffer.alloc(32).toString('base64')}`],
  ])('%s needs DGI_URL', (name, value) => {
    expect(refusal({ [name]: value })).toContain(`${name} requires DGI_URL`);
  });

  it.each([
    ['https://fatoura.example.ma', '0.0.0.0', true],
    ['http://localhost:3000', '0.0.0.0', true],
    ['http://[::1]:3000', '0.0.0.0', true],
    ['http://fatoura.example.ma', '127.0.0.1', false],
    ['http://localhost.example.ma', '127.0.0.1', false],
    ['http://127.0.0.1.example.ma', '127.0.0.1', false],
    [undefined, '127.0.0.1', true],
    [undefined, '0.0.0.0', false],
  ])('PUBLIC_URL %s, HOST %s: usable with DGI_URL: %s', (PUBLIC_URL, HOST, usable) => {
    const problems = refusal({ DGI_URL: 'https://authority.example', HOST, ...(PUBLIC_URL && { PUBLIC_URL }) });
    expect(problems).toHaveLength(usable ? 0 : 1);
  });
});
