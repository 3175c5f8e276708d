import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

// What npm starts ends with npm, though npm's signals reach no further than the shell that it runs.

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npm-start-'));
});
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

/** Runs a script of the package until a line of its output tells that it serves. */
async function npm(args: readonly string[], serves: RegExp) {
  const child = spawn('npm', ['--silent', ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, MONGODB_URL: '', MASTER_KEY: '', ROLE: '', PUBLIC_URL: '', PORT: '0', DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  for await (const line of lines) if (serves.test(line)) break;
  child.stdout.resume();
  return child;
}

/** The process that serves the folder's engine. */
async function serverOf(dataDir: string): Promise<number> {
  return (JSON.parse(await readFile(join(dataDir, 'engine.json'), 'utf8')) as { pid: number }).pid;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it('the service ends when npm gets SIGTERM', async () => {
  const child = await npm(['start'], /^Fatoura listens on/);
  const pid = await serverOf(join(folder, 'db'));
  expect(pid).not.toBe(child.pid);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
  await expect.poll(() => isAlive(pid)).toBe(false);
});

it('the engine alone ends when npm gets SIGTERM', async () => {
  const child = await npm(['run', 'engine', '--', '--data-dir', folder], /^mongodb:/);
  const pid = await serverOf(folder);
  child.kill('SIGTERM');
  await once(child, 'exit');
  await expect.poll(() => isAlive(pid)).toBe(false);
});
