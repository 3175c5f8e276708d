import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleFitsMachine, unpackChromium } from '../../src/adapters/pdf/chromium-bundle.ts';
import { CHROMIUM_CACHE } from '../unit/pdf/support.ts';
import { Client } from './client.ts';

/** A copy of the project's source that a test may change, to observe the effects of the change from outside. */
export interface ScratchCopy {
  readonly folder: string;
  /** Returns the files that were changed or added since the last call, as paths from the root of the project. */
  touched(): string[];
  /**
   * Replaces a text of one file.
   * @param file path from the root of the project: `src/domain/invoice/fields.ts`
   * @throws {Error} unless the text occurs exactly once
   */
  edit(file: string, text: string | RegExp, replacement: string): Promise<void>;
  /** Adds a file. */
  write(file: string, content: string): Promise<void>;
  /** Starts the copy's service in its own process, on a fresh embedded store, with the demo tenant's keys. */
  start(environment?: Readonly<Record<string, string>>): Promise<ScratchService>;
  /** Stops a service and starts the copy in its present state on the same store. */
  restart(service: ScratchService): Promise<ScratchService>;
  /**
   * Runs a script of the copy to its end.
   * @returns its output
   * @throws when it fails
   */
  run(script: string, ...args: string[]): Promise<string>;
  /** Ends the services and deletes the folder. */
  remove(): Promise<void>;
}

export interface ScratchService {
  readonly url: string;
  readonly secretKey: string;
  readonly dataDir: string;
  /** Calls the service with the secret key. Answers are not checked against this project's OpenAPI document. */
  readonly client: Client;
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Copies `src` and the files that it reads at run time. */
export async function scratchCopy(): Promise<ScratchCopy> {
  const folder = await freeFolder();
  for (const each of ['src', 'package.json', 'scripts/samples'])
    await cp(join(ROOT, each), join(folder, each), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  const services: ScratchService[] = [];
  const touched = new Set<string>();
  return {
    folder,
    touched() {
      const files = [...touched];
      touched.clear();
      return files;
    },
    async edit(file, text, replacement) {
      const before = await readFile(join(folder, file), 'utf8');
      const found =
        typeof text === 'string' ? before.split(text).length - 1 : [...before.matchAll(global(text))].length;
      if (found !== 1) throw new Error(`${file} has the text ${text} ${found} times`);
      touched.add(file);
      await writeFile(
        join(folder, file),
        before.replace(text, () => replacement),
      );
    },
    async write(file, content) {
      touched.add(file);
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), content);
    },
    async start(environment = {}) {
      const service = await startCopy(folder, join(folder, `data-${services.length}`), environment);
      services.push(service);
      return service;
    },
    async restart(service) {
      await service.stop();
      const again = await startCopy(folder, service.dataDir, {}, service.secretKey);
      services.push(again);
      return again;
    },
    async run(script, ...args) {
      const { stdout } = await promisify(execFile)(process.execPath, [join(folder, script), ...args], { cwd: folder });
      return stdout;
    },
    async remove() {
      await Promise.all(services.map((service) => service.stop()));
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/**
 * Returns a new folder. Its path is the same in each run, so that the compile cache, which goes by paths, finds the
 * copy's files.
 */
async function freeFolder(): Promise<string> {
  for (let n = 0; ; n++) {
    const folder = join(tmpdir(), `fatoura-copy-${n}`);
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** @param knownKey the secret key; default: the one that the first start on a store prints */
async function startCopy(
  folder: string,
  dataDir: string,
  environment: Readonly<Record<string, string>>,
  knownKey?: string,
): Promise<ScratchService> {
  if (knownKey === undefined && bundleFitsMachine()) {
    // Uses the browser that other tests have unpacked, because unpacking takes seconds.
    await unpackChromium(CHROMIUM_CACHE);
    await mkdir(dataDir, { mode: 0o700 });
    await symlink(CHROMIUM_CACHE, join(dataDir, 'chromium'), 'dir');
  }
  const child = spawn(process.execPath, [join(folder, 'src/main.ts')], {
    cwd: folder,
    env: {
      ...process.env,
      PORT: '0',
      DATA_DIR: dataDir,
      MONGODB_URL: '',
      LOG_LEVEL: 'warn',
      ALLOW_INSECURE_WEBHOOKS: 'true',
      RATE_LIMIT_SECRET: '1000000',
      WEBHOOK_RETRY_SCHEDULE: '0s',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: string[] = [];
  const texts = { url: /http:\/\/127\.0\.0\.1:\d+/, secretKey: /sk_test_[\w-]+/ };
  const found = await new Promise<{ url: string; secretKey: string }>((resolve, reject) => {
    const read = (line: string) => {
      printed.push(line);
      const all = printed.join('\n');
      const [url, secretKey] = [texts.url.exec(all)?.[0], knownKey ?? texts.secretKey.exec(all)?.[0]];
      if (url && secretKey) resolve({ url, secretKey });
    };
    createInterface(child.stdout).on('line', read);
    createInterface(child.stderr).on('line', (line) => printed.push(line));
    child.once('close', (code) => reject(new Error(`the copy ended with code ${code}:\n${printed.join('\n')}`)));
  });
  return { ...found, dataDir, client: new Client(found.url, found.secretKey, false), stop: () => ended(child) };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

function global({ source, flags }: RegExp): RegExp {
  return new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
}
