import { commandParts } from '../../src/app/command-parts.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { readConfig } from '../../src/config.ts';
import { recordingTerminal } from './recording-terminal.ts';

/**
 * Runs a command of the program of a tenant in this process: starting one takes longer than most commands. What a process
 * adds (signals, streams, FATOURA_KEY in its environment) is shown by the tests that start one.
 * @param key what FATOURA_KEY would be
 * @returns the exit code, and what was printed, standard output first
 */
export async function runWithKey(args: readonly string[], key: string): Promise<{ code: number; text: string }> {
  const { terminal, texts } = recordingTerminal();
  const context = { terminal, config: () => readConfig({}), environmentKey: () => key, parts: commandParts };
  const code = await runCommandLine(args, COMMANDS, context);
  return { code, text: texts.out + texts.err };
}
