import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

// A process started by npm ends with npm, although npm's signals only reach the shell that it runs.

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npm-start-'));
});
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

/** Runs an npm script until a line of its output matches `serves`. */
async function npm(args: readonly string[], serves: RegExp) {
  const child = spawn('npm', ['--silent', ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      ...process.env,
      ...{ MONGODB_URL: '', MASTER_KEY: '', ROLE: '', PUBLIC_URL: '', PORT: '0', DATA_DIR: folder },
      CHROMIUM_PATH: '/nonexistent',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  for await (const line of lines) if (serves.test(line)) break;
  child.stdout.resume();
  return child;
}

/** The process that runs the engine of the folder. */
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

it('a standalone engine ends when npm gets SIGTERM', async () => {
  const child = await npm(['run', 'engine', '--', '--data-dir', folder], /^mongodb:/);
  const pid = await serverOf(folder);
  child.kill('SIGTERM');
  await once(child, 'exit');
  await expect.poll(() => isAlive(pid)).toBe(false);
});
