import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { firstOf } from '../support/samples.ts';

// `npm start` is npm and the service, without a shell between them: signals reach the service, and npm waits for its end.
// Other scripts end with npm, although npm's signals only reach the shell that it runs.

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npm-start-'));
});
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

/** Starts an npm script in a process group of its own. */
function run(args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  return spawn('npm', ['--silent', ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      ...process.env,
      MONGODB_URL: '',
      MASTER_KEY: '',
      ROLE: '',
      PUBLIC_URL: '',
      PORT: '0',
      DATA_DIR: folder,
      CHROMIUM_PATH: '/nonexistent',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
}

/** Runs an npm script until a line of its output matches `serves`. */
async function npm(args: readonly string[], serves: RegExp) {
  const child = run(args);
  child.stderr.pipe(process.stderr);
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

const SENDERS: [string, (pid: number) => void][] = [
  ['npm', (pid) => process.kill(pid, 'SIGTERM')],
  ['the process group', (pid) => process.kill(-pid, 'SIGTERM')],
];
it.each(firstOf(SENDERS))(
  'npm start waits until the service has ended in order when %s gets SIGTERM',
  async (_, terminate) => {
    const child = await npm(['start'], /^Fatoura listens on/);
    const engine = await serverOf(join(folder, 'db'));
    const exited = once(child, 'exit');
    terminate(child.pid!);
    expect(await exited).toEqual([0, null]);
    // The service ends its engine before itself.
    expect(isAlive(engine)).toBe(false);
  },
);

it("npm start ends with the service's exit code, here of a setting that its file of settings gets wrong", async () => {
  const file = join(folder, 'settings.env');
  await writeFile(file, 'LOG_LEVEL=loud\nDATA_DIR=/nonexistent\n');
  const child = run(['start'], { ENV_FILE: file });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const [code] = await once(child, 'close');
  expect([code, complaint]).toEqual([2, expect.stringMatching(/^LOG_LEVEL must be one of .*, not 'loud'$/m)]);
});

it('a standalone engine ends when npm gets SIGTERM', async () => {
  const child = await npm(['run', 'engine', '--', '--data-dir', folder], /^mongodb:/);
  const pid = await serverOf(folder);
  child.kill('SIGTERM');
  await once(child, 'exit');
  await expect.poll(() => isAlive(pid)).toBe(false);
});
