import { commandParts } from '../../src/app/command-parts.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { readConfig } from '../../src/config.ts';
import { recordingTerminal } from './recording-terminal.ts';

/**
 * Runs a command of the tenant's program in this process, because starting a process takes longer than most commands.
 * Tests that start one cover signals, streams and FATOURA_KEY in the environment.
 * @param key the value of FATOURA_KEY
 * @returns the exit code, and the output, standard output first
 */
export async function runWithKey(args: readonly string[], key: string): Promise<{ code: number; text: string }> {
  const { terminal, texts } = recordingTerminal();
  const context = { terminal, config: () => readConfig({}), environmentKey: () => key, parts: commandParts };
  const code = await runCommandLine(args, COMMANDS, context);
  return { code, text: texts.out + texts.err };
}
