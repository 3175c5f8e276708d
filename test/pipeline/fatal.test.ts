import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ENGINE_MAIN } from '../support/engine-process.ts';

it('a standalone engine ends with code 1 after a crash', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fatal-'));
  const defect = `data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('a defect')})`;
  const child = spawn(process.execPath, ['--import', defect, ENGINE_MAIN, '--data-dir', folder, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const exited = once(child, 'exit');
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    createInterface(child.stdout).on('line', () => child.kill('SIGUSR2'));
    expect(await exited).toEqual([1, null]);
    expect(said).toContain('a defect');
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
});

it('a service whose engine crashed logs a fatal entry and ends with code 1', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fatal-'));
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const child = spawn(
    process.execPath,
    ['--import', file('../support/kill-first-thread.ts'), file('../../src/main.ts')],
    {
      env: {
        ...process.env,
        MONGODB_URL: '',
        MASTER_KEY: '',
        ROLE: '',
        PUBLIC_URL: '',
        PORT: '0',
        DATA_DIR: folder,
        CHROMIUM_PATH: '/nonexistent',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    const exited = once(child, 'exit');
    const logged: { level: number; msg: string; err?: { message: string } }[] = [];
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('Fatoura listens on')) child.kill('SIGUSR2');
      if (line.startsWith('{')) logged.push(JSON.parse(line));
    });
    expect(await exited).toEqual([1, null]);
    expect(logged.filter(({ level }) => level === 60)).toMatchObject([
      { msg: 'the service cannot continue', err: { message: expect.stringContaining("the engine's thread") } },
    ]);
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
});
