import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { EXIT } from '../../scripts/bench/main.ts';

// Only people run benches, so a change that breaks one is found here: each runs one quick repeat.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ALL = readdirSync(`${ROOT}/scripts/bench`).flatMap((file) => /^(.+)\.bench\.ts$/.exec(file)?.[1] ?? []);
/** Without those that a shorter name runs, too. */
const NAMES = ALL.filter((name) => !ALL.some((other) => name.startsWith(`${other}-`)));

it.each(NAMES)('%s', { timeout: 600_000 }, async (name) => {
  const args = ['scripts/bench/main.ts', name, '--quick', '--repeats', '1', '--most', '2000'];
  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT }, (error, output) => resolve({ code: error?.code ?? 0, output }));
  });
  expect(output).not.toContain('FAILED');
  expect([EXIT.reliable, EXIT.noisy]).toContain(code);
});
