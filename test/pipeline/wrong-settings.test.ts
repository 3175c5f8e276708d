import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startSoftHsm, WITHOUT_HSM } from '../support/soft-hsm.ts';

// The process reports every problem of its settings in one list, and ends with exit code 2.

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wrong-settings-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Where Node finds compiled modules. */
const { NODE_COMPILE_CACHE } = process.env;

/** Starts the service with these settings only, and waits for its end. */
async function start(settings: Record<string, string>): Promise<{ code: number; lines: string[] }> {
  const child = spawn(process.execPath, [MAIN], {
    env: { NODE_COMPILE_CACHE, PORT: '0', DATA_DIR: join(folder, 'data'), CHROMIUM_PATH: '/nonexistent', ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  const [err, code] = await Promise.all([text(child.stderr), ended]);
  return { code, lines: err.trimEnd().split('\n') };
}

async function written(name: string, content: string): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

const none = (name: string) => join(folder, name);

it('wrong values, broken rules and unusable files are one list', async () => {
  const { code, lines } = await start({
    LOG_LEVEL: 'loud',
    DGI_URL: 'http://authority.example',
    DGI_CLIENT_P12_PASSPHRASE: 'hidden',
    DGI_CA: await written('ca.pem', 'no certificate'),
    DGI_TOKEN_URL: 'https://authority.example/token',
    DGI_CLIENT_ID: 'us',
    DGI_CLIENT_KEY: none('key.pem'),
    SIGNING_P12: none('seal.p12'),
    SIGNING_TENANTS: await written(
      'tenants.json',
      '{"ten_1": {"p12": "1.p12"}, "ten_2": {"pkcs11": "pkcs11:object=k"}}',
    ),
    GRAPHQL_OPERATIONS: await written('operations.json', '[]'),
  });
  expect(lines).toEqual([
    'The settings are invalid:',
    'DGI_URL must be an https:// URL',
    "LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not 'loud'",
    'DGI_CLIENT_P12_PASSPHRASE requires DGI_CLIENT_P12',
    expect.stringMatching(/^SIGNING_P12: the file .*seal\.p12 does not exist/),
    expect.stringMatching(/^SIGNING_TENANTS, ten_1: the file .*1\.p12 does not exist/),
    expect.stringMatching(/^SIGNING_TENANTS, ten_2: must name the HSM's library/),
    expect.stringMatching(/^DGI_CA: .*ca\.pem.*no certificate in PEM format/),
    expect.stringMatching(/^DGI_CLIENT_KEY: the file .*key\.pem does not exist/),
    expect.stringMatching(/^GRAPHQL_OPERATIONS: .*operations\.json must be a JSON object/),
  ]);
  expect(code).toBe(2);
});

it('a variable of the file that is no setting is told, whatever else is wrong', async () => {
  const { lines } = await start({ ENV_FILE: await written('.env', 'PUBLIC_ULR=https://x.example\nLOG_LEVEL=loud\n') });
  expect(lines[0]).toMatch(/PUBLIC_ULR.*PUBLIC_URL/);
  expect(lines).toContain("LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not 'loud'");
});

it('the files of signing keys are not read by a process that does not sign', async () => {
  const shared = { MONGODB_URL: 'mongodb://127.0.0.1:1/', MASTER_KEY: 'ab'.repeat(32), SIGNING_P12: none('seal.p12') };
  const { code, lines } = await start({ ...shared, ROLE: 'api', GRAPHQL_OPERATIONS: none('operations.json') });
  expect(lines).toEqual([
    'The settings are invalid:',
    expect.stringMatching(/^GRAPHQL_OPERATIONS: .*cannot be read: ENOENT/),
  ]);
  expect(code).toBe(2);
});

it('what only a person can mend ends with exit code 2, so that it is not started again', async () => {
  const file = await written('file', '');
  const folderFault = await start({ DATA_DIR: file });
  expect(folderFault.lines).toEqual([expect.stringMatching(/^Fatoura cannot start: DATA_DIR .*is not a folder/)]);
  await mkdir(join(folder, 'data'));
  await written('data/master.key', 'damaged');
  const keyFault = await start({});
  expect(keyFault.lines).toEqual([expect.stringMatching(/^Fatoura cannot start: .*master\.key is damaged/)]);
  expect([folderFault.code, keyFault.code]).toEqual([2, 2]);
});

it('a port that is taken may be free at the next start: exit code 1', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { code, lines } = await start({ PORT: String(port), HOST: '127.0.0.1' });
  server.close();
  expect(lines).toEqual([expect.stringMatching(/^Fatoura cannot start: PORT \d+ is already in use/)]);
  expect(code).toBe(1);
});

it.skipIf(WITHOUT_HSM !== null)('a wrong PIN of an HSM ends with exit code 2', async () => {
  const hsm = await startSoftHsm();
  try {
    await hsm.importKey('key', '01', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
    const { code, lines } = await start({
      SIGNING_PKCS11: hsm.uri('key').replace(/pin-source=.*/, 'pin-value=0000'),
      SOFTHSM2_CONF: process.env.SOFTHSM2_CONF ?? '',
    });
    expect(lines).toEqual([
      expect.stringMatching(
        /^Fatoura cannot start: SIGNING_PKCS11: The token fatoura refuses the PIN \(CKR_PIN_INCORRECT\)/,
      ),
    ]);
    expect(code).toBe(2);
  } finally {
    await hsm.close();
  }
});
