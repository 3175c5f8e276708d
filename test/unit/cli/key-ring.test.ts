import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { CommandContext } from '../../../src/cli/command.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { readConfig } from '../../../src/config.ts';

/** @param rotation the functions that the command calls @returns the exit code and what it printed */
async function run(args: string[], rotation: object): Promise<{ code: number; out: string }> {
  const printed: string[] = [];
  const context = {
    terminal: { print: (text: string) => printed.push(text), remark: (text: string) => printed.push(text) },
    config: () => readConfig({}),
    parts: {
      administration: async () => ({
        openAdministration: async () => ({ auditLog: { insert: async () => undefined }, close: async () => undefined }),
      }),
      keyRotation: async () => rotation,
    },
  } as unknown as CommandContext;
  return { code: await runCommandLine(args, COMMANDS, context), out: printed.join('\n') };
}

beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-27T04:48:31Z'), toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

it('reseal within the minute after a rotation says from when the new key is used, and is to be repeated', async () => {
  const resealed = { endpoints: 2, secrets: 0, unopened: [] };
  const reseal = (nextFrom: Date | null) =>
    run(['data-keys', 'reseal'], { resealStoredSecrets: async () => ({ ...resealed, nextFrom }) });
  const early = await reseal(new Date('2026-11-27T04:49:00Z'));
  expect(early.code).toBe(1);
  expect(early.out).toMatch(/used from 2026-11-27T04:49:00.000Z only.*run data-keys reseal again then/);
  expect(await reseal(null)).toEqual({ code: 0, out: '2 endpoints: 0 secrets were sealed anew.' });
});

it.each([
  ['/data/master.key.before-2026-11-27-aa', /open with it only\. Delete it/],
  [null, /Keep the old key as long as backups made before/],
])('master-key rotate says until when backups need the old key, kept as %s', async (kept, advice) => {
  const rotated = { from: 'aa', to: 'bb', file: kept && '/data/master.key', kept };
  const { code, out } = await run(['master-key', 'rotate'], { rotateMasterKey: async () => rotated });
  expect(code).toBe(0);
  expect(out).toMatch(/backups made before 2026-11-27 04:49 UTC/);
  expect(out).toMatch(advice);
});
