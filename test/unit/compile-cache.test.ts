import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { COMPILED_MODULES } from '../../src/compile-cache.ts';

const ROOT = join(import.meta.dirname, '../..');

const PROGRAM = `
  import { getCompileCacheDir } from 'node:module';
  import { Worker } from 'node:worker_threads';
  import { useCompileCache } from ${JSON.stringify(new URL('../../src/compile-cache.ts', import.meta.url).href)};
  const keep = useCompileCache();
  await import(${JSON.stringify(new URL('../../src/domain/money.ts', import.meta.url).href)});
  if (process.argv.includes('keep')) keep();
  // Not ended by itself: Node would write the cache then, also on SIGKILL.
  if (process.argv.includes('wait')) {
    console.log('ready');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  }
  const code = \`process.getBuiltinModule('node:worker_threads').parentPort.postMessage(
    process.getBuiltinModule('node:module').getCompileCacheDir() ?? null)\`;
  const ofThread = await new Promise((resolve) => new Worker(code, { eval: true }).once('message', resolve));
  console.log(JSON.stringify([getCompileCacheDir() ?? null, ofThread]));`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compile-cache-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const ARGUMENTS = ['--input-type=module', '--eval', PROGRAM];

/** @returns the folder of the cache as a process and its thread see it */
async function foldersWith(variables: Record<string, string>): Promise<(string | null)[]> {
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ARGUMENTS, { env: { ...environment, ...variables } });
  return JSON.parse(stdout) as (string | null)[];
}

it('is in the folder of the packages, for the process and its threads', async () => {
  const own = expect.stringMatching(/\/node_modules\/\.cache\/compiled-modules\//);
  expect(await foldersWith({})).toEqual([own, own]);
});

it('is in the same folder for Node itself, which npm start tells before the program starts', async () => {
  const [, told] = /NODE_COMPILE_CACHE:-([^}]+)\}/.exec(await readFile(join(ROOT, 'package.json'), 'utf8')) ?? [];
  expect(join(ROOT, told as string)).toBe(COMPILED_MODULES);
});

it('is where NODE_COMPILE_CACHE says, and nowhere if it is turned off', async () => {
  const given = expect.stringContaining(folder);
  expect(await foldersWith({ NODE_COMPILE_CACHE: folder })).toEqual([given, given]);
  expect(await foldersWith({ NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual([null, null]);
});

it.each([
  { last: ['wait'], kept: false },
  { last: ['keep', 'wait'], kept: true },
])('of a process that is killed is kept if it was asked to: $kept', async ({ last, kept }) => {
  const env = { ...process.env, NODE_COMPILE_CACHE: folder };
  const child = spawn(process.execPath, [...ARGUMENTS, ...last], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  expect(entries.some((entry) => entry.isFile())).toBe(kept);
});
