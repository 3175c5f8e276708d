import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ConfigError, loadEnvFile } from '../../src/config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'env-file-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The variables after a start with such a file and environment. */
function loaded(content: string | Buffer, env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const file = join(folder, '.env');
  writeFileSync(file, content);
  const all: NodeJS.ProcessEnv = { ...env, ENV_FILE: file };
  loadEnvFile(all);
  delete all.ENV_FILE;
  return all;
}

it('adds what the environment does not have, read as Node reads such files', () => {
  const text = [
    '\uFEFF# settings of this machine',
    'PORT=4000',
    '',
    '  export HOST = 0.0.0.0   # all addresses',
    'MAIL_FROM="a # b"',
    "PEM='first",
    "second'",
    'TRUST_PROXY=',
    'LOG_LEVEL=debug',
  ].join('\r\n');
  expect(loaded(text, { LOG_LEVEL: 'warn', DATA_DIR: '' })).toEqual({
    PORT: '4000',
    HOST: '0.0.0.0',
    MAIL_FROM: 'a # b',
    PEM: 'first\nsecond',
    TRUST_PROXY: '',
    LOG_LEVEL: 'warn',
    DATA_DIR: '',
  });
  // An empty variable takes a setting of the file back.
  expect(loaded('PORT=4000', { PORT: '' })).toEqual({ PORT: '' });
});

it.each([
  ['a name without a value', 'PORT=1\nLOG_LEVEL debug\n', 2],
  ['YAML', 'PORT: 1', 1],
  ['an open quote', 'PORT=1\n\nMASTER_KEY="0123\nLOG_LEVEL=debug', 3],
  ['an open quote before another value in quotes', 'A="x\nB="y"\n', 1],
  ['text after a value in quotes', 'A="x"\nB="x" y', 2],
  ['a value without a name', '=1', 1],
])('refuses a file with %s, and adds nothing of it', (_, text, line) => {
  const env: NodeJS.ProcessEnv = {};
  expect(() => loaded(text, env)).toThrow(ConfigError);
  expect(() => loaded(text, env)).toThrow(`.env, line ${line}: must be NAME=value`);
  expect(env).toEqual({});
});

it('shows no value of a line that it refuses', () => {
  expect(() => loaded('MASTER_KEY "hidden')).not.toThrow(/hidden/);
});

it('refuses a file that is not text or cannot be read', () => {
  expect(() => loaded(Buffer.from([0x41, 0x3d, 0xff]))).toThrow('.env is not UTF-8 text');
  expect(() => loadEnvFile({ ENV_FILE: folder })).toThrow(`${folder} cannot be read: EISDIR`);
  expect(() => loadEnvFile({ ENV_FILE: join(folder, 'none') })).toThrow('cannot be read: ENOENT');
});

it('needs no file where none is named, and reads none where ENV_FILE is empty', () => {
  const before = process.cwd();
  try {
    process.chdir(folder);
    const env: NodeJS.ProcessEnv = {};
    loadEnvFile(env);
    expect(env).toEqual({});
    writeFileSync('.env', 'PORT=4000');
    const unread = { ENV_FILE: '' };
    loadEnvFile(unread);
    expect(unread).toEqual({ ENV_FILE: '' });
    loadEnvFile(env);
    expect(env).toEqual({ PORT: '4000' });
  } finally {
    process.chdir(before);
  }
});
