import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { issue } from '../authority-simulator/certificates.ts';
import { COMPOSE, DOCKERFILE, HAPROXY, KUBERNETES, UNIT } from './deployment-files.ts';

interface Linter {
  readonly name: string;
  /** The command that prints the version, by which the linter is detected. */
  readonly command: readonly [string, ...string[]];
  readonly version: readonly string[];
  /** @param folder for temporary files */
  arguments(folder: string): Promise<readonly string[]>;
  readonly environment?: (folder: string) => Readonly<Record<string, string>>;
  /** Matches an output about the machine instead of the files: then the linter has checked nothing. */
  readonly cannot?: RegExp;
  /** Matches an output that is a complaint although the exit code is 0. */
  readonly complains?: RegExp;
}

const composeArguments = async () => ['-f', COMPOSE, '--profile', '*', 'config', '--quiet'];

const LINTERS: readonly Linter[] = [
  {
    name: 'docker compose config',
    command: ['docker', 'compose'],
    version: ['version'],
    arguments: composeArguments,
  },
  { name: 'docker-compose config', command: ['docker-compose'], version: ['version'], arguments: composeArguments },
  {
    name: 'kustomize build',
    command: ['kustomize'],
    version: ['version'],
    arguments: async () => ['build', KUBERNETES],
  },
  {
    name: 'kubeconform',
    command: ['kubeconform'],
    version: ['-v'],
    // KUBERNETES_SCHEMAS is a folder or address of schemas. Without it, they are loaded from the Internet.
    async arguments() {
      const own = process.env.KUBERNETES_SCHEMAS;
      const location = own === undefined ? [] : ['-schema-location', own];
      return ['-strict', '-summary', '-ignore-filename-pattern', 'kustomization', ...location, KUBERNETES];
    },
    cannot: /could not find schema|failed downloading schema|no such host|connection refused/,
  },
  { name: 'hadolint', command: ['hadolint'], version: ['--version'], arguments: async () => [DOCKERFILE] },
  {
    name: 'systemd-analyze verify',
    command: ['systemd-analyze'],
    version: ['--version'],
    async arguments(folder) {
      // The linter checks that the program of a unit exists, and /opt contains none here.
      const text = await readFile(UNIT, 'utf8');
      const copy = join(folder, 'fatoura.service');
      await writeFile(copy, text.replaceAll('/opt/fatoura', process.cwd()));
      return ['verify', '--man=no', copy];
    },
    complains: /fatoura\.service:/,
  },
  {
    name: 'systemd-analyze security',
    command: ['systemd-analyze'],
    version: ['--version'],
    // The threshold is the exposure from 0 to 10, times ten.
    arguments: async () => ['security', '--offline=yes', '--threshold=25', '--no-pager', UNIT],
  },
  {
    name: 'haproxy -c',
    command: ['haproxy'],
    version: ['-v'],
    async arguments(folder) {
      const { privateKey, certificate } = issue('localhost', null, {
        ca: false,
        usage: KeyUsageFlags.digitalSignature,
        tls: 'server',
        hosts: ['localhost'],
      });
      await mkdir(join(folder, 'tls'));
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
      await writeFile(join(folder, 'tls', 'a.pem'), `${certificate}${key}`);
      return ['-c', '-f', HAPROXY];
    },
    environment: (folder) => ({ CERTIFICATE: join(folder, 'tls'), API_1: '127.0.0.1:3000', API_2: '127.0.0.1:3001' }),
    complains: /WARNING|ALERT/,
  },
];

/**
 * Runs the installed linters in the project folder `root`. Writes a line for each: `ok`, `FAILED` with its output, or
 * `skipped` with the reason.
 * @returns whether no linter complained
 */
export async function runLinters(root: string, write: (line: string) => void): Promise<boolean> {
  process.chdir(root);
  let ok = true;
  for (const linter of LINTERS) {
    const [verdict, said] = await run(linter);
    write(`${verdict.padEnd(8)} ${linter.name}${said === '' ? '' : `: ${said}`}`);
    ok &&= verdict !== 'FAILED';
  }
  return ok;
}

async function run(linter: Linter): Promise<['ok' | 'FAILED' | 'skipped', string]> {
  const { command, version, environment, cannot, complains } = linter;
  const [program, ...first] = command;
  const path = `${process.env.PATH}:/usr/sbin`;
  const options = { env: { ...process.env, PATH: path }, timeout: 120_000, maxBuffer: 1 << 24 };
  const execute = promisify(execFile);
  const isThere = await execute(program, [...first, ...version], options).then(
    () => true,
    () => false,
  );
  if (!isThere) return ['skipped', 'it is not installed'];
  const folder = await mkdtemp(join(tmpdir(), 'check-deploy-'));
  try {
    const args = [...first, ...(await linter.arguments(folder))];
    const env = { ...options.env, ...environment?.(folder) };
    const { stdout, stderr } = await execute(program, args, { ...options, env });
    const said = `${stdout}${stderr}`;
    return complains?.test(said) ? ['FAILED', said.trim()] : ['ok', ''];
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    const said = `${stdout}${stderr}`.trim() || message;
    return cannot?.test(said) ? ['skipped', `it cannot load what it needs (${said.split('\n')[0]})`] : ['FAILED', said];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
