import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { readArchive } from '../../scripts/release/contents.ts';
import { freePort } from './free-ports.ts';

/** The environment variables about a machine's networks. An empty machine has no others of this one. */
const NETWORK =
  /^(?:https?_proxy|no_proxy|npm_config_registry|npm_config_cafile|pip_(?!cache).*|goproxy|gosumdb|ssl_cert_.*|node_extra_ca_certs)$/i;

/**
 * The exit code of `npm run release` if it lacks a tool for one of the files. The test that needs the file then fails.
 */
const LEFT_OUT = 3;

/** A machine with programs and networks, but with nothing of Fatoura and without a cache of any tool. */
export interface EmptyMachine {
  /** Time from `npm ci && npm start` until the service has printed its keys, seconds. */
  readonly startSeconds: number;
  readonly url: string;
  readonly secretKey: string;
  /** The link for creating the first account. */
  readonly invitationUrl: string;
  /** The folder of the service: a clone of the last commit. */
  readonly project: string;
  /** Returns the path of a package built from that clone, as a release contains it. */
  package(pattern: RegExp): string;
  /**
   * Makes a folder that contains only a package as an operator hands it out: its file, or its folder.
   * @returns its path
   */
  folder(given?: RegExp): Promise<string>;
  /** Runs a command as a user who has the key in the environment and a separate home without any cache. */
  run(folder: string, command: string, ...args: string[]): string;
  /** The environment of a user whose home is this folder. */
  environment(home: string): NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/**
 * Starts the service on an empty machine.
 * @param root the project, whose last commit is cloned
 * @param start the command by which the README starts the service
 */
export async function emptyMachine(root: string, start: string): Promise<EmptyMachine> {
  const scratch = mkdtempSync(join(tmpdir(), 'fatoura-empty-machine-'));
  const [project, home] = [join(scratch, 'project'), join(scratch, 'home')];
  mkdirSync(home);
  execFileSync('git', ['clone', '--quiet', root, project]);
  const port = await freePort();
  const started = performance.now();
  const service = spawn('sh', ['-c', start], {
    cwd: project,
    // A process group of its own, so that npm's processes end with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...bare(home), PORT: String(port) },
  });
  const close = async () => {
    if (service.pid !== undefined && service.exitCode === null) {
      const ended = new Promise((resolve) => service.once('exit', resolve));
      process.kill(-service.pid, 'SIGTERM');
      await ended;
    }
    // Go makes the modules in its cache read-only.
    execFileSync('chmod', ['-R', 'u+w', scratch]);
    rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  };
  const printed = await printedBy(service, /^ +publishable +pk_test_/m);
  const startSeconds = (performance.now() - started) / 1000;
  const found = (pattern: RegExp) => pattern.exec(printed)?.[1] ?? '';
  const [url, secretKey] = [found(/listens on (\S+)/), found(/(sk_test_\S+)/)];
  const packages = join(scratch, 'packages');
  const { status } = spawnSync('npm', ['run', '--silent', 'release', '--', '--dry-run', '--output', packages], {
    cwd: project,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: bare(home),
  });
  if (status !== 0 && status !== LEFT_OUT) {
    await close();
    throw new Error(`the release cannot be made: ${status}`);
  }
  const packageOf = (pattern: RegExp): string => {
    const name = readdirSync(packages).find((each) => pattern.test(each));
    if (name === undefined) throw new Error(`the release has no ${pattern}`);
    return join(packages, name);
  };
  const environment = (folder: string) => ({ ...bare(folder), FATOURA_URL: url, FATOURA_KEY: secretKey });
  return {
    startSeconds,
    url,
    secretKey,
    project,
    environment,
    invitationUrl: found(/(http\S+\/join#\S+)/),
    package: packageOf,
    async folder(given) {
      const folder = mkdtempSync(join(scratch, 'user-'));
      if (given === undefined) return folder;
      const archive = packageOf(given);
      if (archive.endsWith('.zip'))
        for (const { path, bytes } of await readArchive(archive)) {
          mkdirSync(dirname(join(folder, path)), { recursive: true });
          writeFileSync(join(folder, path), bytes);
        }
      else copyFileSync(archive, join(folder, basename(archive)));
      return folder;
    },
    run: (folder, command, ...args) =>
      execFileSync(command, args, {
        cwd: folder,
        encoding: 'utf8',
        stdio: 'pipe',
        env: environment(folder),
        // Maven prints each step of a download.
        maxBuffer: 2 ** 26,
      }),
    close,
  };
}

/** Returns the environment of a user with this home, on whose machine nothing else is set. */
function bare(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => NETWORK.test(name));
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  // Java takes the home from the system's list of users.
  const java = { MAVEN_OPTS: `-Duser.home=${home}` };
  return { ...Object.fromEntries(kept), ...java, HOME: home, PATH: folders.join(delimiter), LANG: 'C.UTF-8' };
}

/** Waits until a process has printed a match of `end`. @returns its output until then */
async function printedBy(child: ChildProcess, end: RegExp): Promise<string> {
  let printed = '';
  const { stdout } = child;
  if (stdout === null) throw new Error('the process has no output');
  for await (const chunk of stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (end.test(printed)) {
      stdout.resume();
      return printed;
    }
  }
  throw new Error(`the process ended before it printed ${end}: ${printed.slice(-2000)}`);
}
