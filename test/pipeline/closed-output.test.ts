import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

it('a first start whose output nobody reads goes on, and its credentials are on standard error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'closed-'));
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    env: { NODE_COMPILE_CACHE, ENV_FILE: '', PORT: '0', DATA_DIR: join(folder, 'data'), CHROMIUM_PATH: '/nonexistent' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    // As `| true` does.
    child.stdout.destroy();
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await expect.poll(() => said).toMatch(/Fatoura listens on http[\s\S]*\bsecret +sk_test_/);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});
