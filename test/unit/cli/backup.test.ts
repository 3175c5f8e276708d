import { expect, it } from 'vitest';
import type { CommandContext } from '../../../src/cli/command.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { readConfig } from '../../../src/config.ts';

it.each([[['backup', '--to', 'copy']], [['backup', '--follow', '--to', 'copy']], [['restore', '--from', 'copy']]])(
  '%j with MONGODB_URL names the tools of MongoDB, with exit code 2',
  async (args) => {
    const remarked: string[] = [];
    const context = {
      terminal: { print: () => undefined, remark: (text: string) => remarked.push(text) },
      config: () => readConfig({ MONGODB_URL: 'mongodb://127.0.0.1:1/x', MASTER_KEY: '0'.repeat(64) }),
      parts: {},
    } as unknown as CommandContext;
    expect(await runCommandLine(args, COMMANDS, context)).toBe(2);
    expect(remarked.join(' ')).toContain("MongoDB's own tools");
  },
);

it('--replace belongs to --follow', async () => {
  const followed: unknown[] = [];
  const context = {
    terminal: { print: () => undefined, remark: () => undefined },
    config: () => readConfig({}),
    parts: {
      followStore: async () => ({
        followStore: async (_config: unknown, options: unknown) => void followed.push(options),
      }),
    },
  } as unknown as CommandContext;
  expect(await runCommandLine(['backup', '--replace', '--to', 'copy'], COMMANDS, context)).toBe(2);
  for (const more of [[], ['--replace']])
    expect(await runCommandLine(['backup', '--follow', '--to', 'copy', ...more], COMMANDS, context)).toBe(0);
  expect(followed).toMatchObject([{ replace: false }, { replace: true }]);
});

it('restore says what comes before the first start, with the UTC day of the copy', async () => {
  const printed: string[] = [];
  const takenAt = '2026-11-24T23:59:58.123Z';
  const manifest = { takenAt, dataBytes: 1, documents: {}, masterKey: true };
  const context = {
    terminal: { print: (text: string) => printed.push(text), remark: () => undefined },
    config: () => readConfig({}),
    parts: { restoreBackup: async () => ({ restoreBackup: async () => manifest }) },
  } as unknown as CommandContext;
  expect(await runCommandLine(['restore', '--from', 'copy'], COMMANDS, context)).toBe(0);
  const text = printed.join('\n');
  expect(text).toContain(`what was acknowledged after ${takenAt} is gone here`);
  expect(text).toContain('docs/operations.md, "After a restore of a backup or a followed copy"');
  expect(text).toMatch(/^ {2}npm run -s cli -- authority reconcile --since 2026-11-24$/m);
});
