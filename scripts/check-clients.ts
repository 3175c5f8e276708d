// Generates clients from the OpenAPI document of its own instance of the service, compiles them and calls the service
// with them: openapi-typescript with openapi-fetch, and openapi-generator for TypeScript, Python, Java and PHP (the
// calls are in scripts/clients/). `node scripts/check-clients.ts [NAME…]`; prints which clients were skipped because
// their tools are missing. Not part of `npm test`: it needs those tools, and the network on the first run. It caches
// downloads from npm, PyPI and Maven under node_modules/.cache.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, glob, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startApp } from '../src/app/app.ts';
import { readConfig } from '../src/config.ts';

const GENERATOR = '7.17.0';
/**
 * Options of the generator: answers may get more fields later, and Java must omit values that are not set instead of
 * sending an empty list.
 */
const OPTIONS = 'disallowAdditionalPropertiesIfNotPresent=false,containerDefaultToNull=true,importFileExtension=.js';
const TOOLS = fileURLToPath(new URL('../node_modules/.cache/clients/', import.meta.url));
const JAR = join(TOOLS, `openapi-generator-cli-${GENERATOR}.jar`);
const caller = (file: string) => fileURLToPath(new URL(`clients/${file}`, import.meta.url));

/** A command failed; the message is its output. */
class Failed extends Error {}

/**
 * Asynchronous, because the service runs in this process.
 * @throws {Failed}
 */
async function run(cwd: string, program: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(program, args, { cwd, maxBuffer: 1 << 28 }).catch(
    (error: Error & Record<string, unknown>) => {
      throw new Failed(`${error.message}\n${error.stdout}`.slice(0, 4000));
    },
  );
}

const has = (program: string, option = '--version') => spawnSync(program, [option], { stdio: 'ignore' }).status === 0;

async function generate(folder: string, language: string, output: string): Promise<void> {
  const of = ['-i', join(folder, '..', 'openapi.json'), '-g', language, '-o', join(folder, output)];
  await run(folder, 'java', '-jar', JAR, 'generate', ...of, `--additional-properties=${OPTIONS}`);
}

interface Client {
  /** The names of required tools that are missing on this machine. */
  readonly missing: () => string[];
  /**
   * Generates and compiles the client and its caller in an empty folder. @returns the command that runs the caller,
   * without its arguments
   * @throws {Failed}
   */
  readonly build: (folder: string) => Promise<[program: string, ...args: string[]]>;
}

const without = (needed: Readonly<Record<string, boolean>>) => Object.keys(needed).filter((name) => !needed[name]);
const javaTools = () => ({ java: has('java', '-version'), mvn: has('mvn') });

/** Strict options, as a careful project would use. */
const TSC = ['--strict', '--noUncheckedIndexedAccess', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];

/** @param client the module that the caller imports as `#client` */
async function compileTypescript(folder: string, file: string, client: string): Promise<[string, ...string[]]> {
  await cp(caller(file), join(folder, file));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', imports: { '#client': client } }));
  // The folder is not inside node_modules, because the compiler does not treat files there as sources.
  await symlink(join(TOOLS, 'node_modules'), join(folder, 'node_modules'));
  await run(folder, process.execPath, join(TOOLS, 'node_modules/typescript/bin/tsc'), ...TSC, file);
  return [process.execPath, file.replace('.ts', '.js')];
}

const CLIENTS: Readonly<Record<string, Client>> = {
  'openapi-fetch': {
    missing: () => without({ npm: has('npm') }),
    async build(folder) {
      const made = [join(folder, '../openapi.json'), '-o', join(folder, 'client.d.ts')];
      await run(TOOLS, process.execPath, 'node_modules/openapi-typescript/bin/cli.js', ...made);
      return compileTypescript(folder, 'openapi-fetch.ts', './client.js');
    },
  },
  typescript: {
    missing: () => without({ npm: has('npm'), ...javaTools() }),
    async build(folder) {
      await generate(folder, 'typescript-fetch', 'client');
      return compileTypescript(folder, 'typescript-fetch.ts', './client/index.js');
    },
  },
  python: {
    missing: () => without({ python3: has('python3'), ...javaTools() }),
    async build(folder) {
      await generate(folder, 'python', '.');
      await cp(caller('client.py'), join(folder, 'client.py'));
      const python = join(TOOLS, 'venv/bin/python');
      const libraries = 'pydantic urllib3 python-dateutil types-python-dateutil typing-extensions mypy'.split(' ');
      if (!has(python)) await run(TOOLS, 'python3', '-m', 'venv', 'venv');
      await run(TOOLS, python, '-m', 'pip', '-q', '--disable-pip-version-check', 'install', ...libraries);
      // Excludes the generated webhook code, which is neither exported nor typed (generator 7.17, with any document).
      await run(folder, python, '-m', 'compileall', '-q', '-x', 'events_api', 'openapi_client');
      await run(folder, python, '-m', 'mypy', '--strict', '--follow-imports=silent', 'client.py');
      return [python, 'client.py'];
    },
  },
  java: {
    missing: () => without({ javac: has('javac'), ...javaTools() }),
    async build(folder) {
      await generate(folder, 'java', '.');
      const libraries = join(TOOLS, 'java');
      const copy = ['dependency:copy-dependencies', '-DincludeScope=compile', `-DoutputDirectory=${libraries}`];
      await run(folder, 'mvn', '-q', '-B', ...copy);
      const sources = await Array.fromAsync(glob('src/main/java/**/*.java', { cwd: folder }));
      await run(
        folder,
        'javac',
        '-nowarn',
        '-cp',
        join(libraries, '*'),
        '-d',
        'classes',
        ...sources,
        caller('Client.java'),
      );
      return ['java', '-cp', [join(libraries, '*'), 'classes'].join(delimiter), 'Client'];
    },
  },
  php: {
    missing: () => without({ 'php-cli': has('php'), 'php-guzzlehttp-guzzle': guzzle() !== undefined, ...javaTools() }),
    async build(folder) {
      await generate(folder, 'php', '.');
      for await (const file of glob('lib/**/*.php', { cwd: folder })) await run(folder, 'php', '-l', file);
      return ['php', caller('client.php'), folder, guzzle() ?? ''];
    },
  },
};

/** Returns the file that loads Guzzle: Debian's, or GUZZLE_AUTOLOAD. */
function guzzle(): string | undefined {
  return ['/usr/share/php/GuzzleHttp/autoload.php', process.env.GUZZLE_AUTOLOAD ?? ''].find((file) => existsSync(file));
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(CLIENTS, name));
if (unknown.length > 0) {
  console.error(`Unknown client ${unknown.join(', ')}. Known clients: ${Object.keys(CLIENTS).join(', ')}.`);
  process.exit(2);
}

await mkdir(TOOLS, { recursive: true });
const folder = await mkdtemp(join(tmpdir(), 'clients-'));
const limits = { RATE_LIMIT_SECRET: '10000000', RATE_LIMIT_ADDRESS: '10000000', RATE_LIMIT_PUBLISHABLE: '10000000' };
const app = await startApp(readConfig({ PORT: '0', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'error', ...limits }));
try {
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${app.url}/v1/openapi.json`)).text());
  if (has('mvn')) {
    const jar = ['-q', '-B', 'dependency:copy', `-Dartifact=org.openapitools:openapi-generator-cli:${GENERATOR}`];
    await run(TOOLS, 'mvn', ...jar, `-DoutputDirectory=${TOOLS}`);
  }
  const packages = ['openapi-typescript@7', 'openapi-fetch@0', 'typescript@5', '@types/node@24'];
  await writeFile(join(TOOLS, 'package.json'), '{"private": true}');
  await run(TOOLS, 'npm', 'install', '--no-audit', '--no-fund', '--silent', ...packages);
  for (const [name, client] of Object.entries(CLIENTS))
    if (asked.length === 0 || asked.includes(name)) await check(name, client);
} finally {
  await app.close();
  await rm(folder, { recursive: true, force: true });
}

async function check(name: string, { missing, build }: Client): Promise<void> {
  const absent = missing();
  if (absent.length > 0) return console.log(`${name}: skipped, ${absent.join(', ')} is not installed`);
  const own = join(folder, name);
  await mkdir(own);
  try {
    const [program, ...args] = await build(own);
    await run(own, program, ...args, String(app.url), String(app.firstStart.demo?.secretKey));
    console.log(`${name}: generated and compiled; all calls passed`);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    console.error(`${name}: FAILED\n${error.message}`);
    process.exitCode = 1;
  }
}
