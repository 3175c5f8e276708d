import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { ENGINE_MAIN } from '../../support/engine-process.ts';

// These tests start processes, which share the machine with other work.
vi.setConfig({ testTimeout: 60_000 });

it.each([
  [['--help'], 0, /^Usage: .*--data-dir DIR/, /^$/],
  [['--nope'], 2, /^$/, /'--nope'\nUsage: /],
  [[], 2, /^$/, /--data-dir DIR is required\nUsage: /],
])('%j', async (args, exitCode, out, err) => {
  const child = spawn(process.execPath, [ENGINE_MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [printed, remarked, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect(code).toBe(exitCode);
  expect(printed).toMatch(out);
  expect(remarked).toMatch(err);
});
