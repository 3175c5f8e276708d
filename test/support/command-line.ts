import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** A process of the command line. */
export type CommandLine = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

/**
 * Starts a process of the command line. It does not inherit the settings of the tests' environment.
 * @param environment its settings
 * @param input descriptor of the file that it reads; null: none
 */
export function startCommandLine(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input: number | null = null,
): CommandLine {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, [CLI, ...args], {
    stdio: [input ?? 'ignore', 'pipe', 'pipe'],
    env: { PATH, NODE_COMPILE_CACHE, ...environment },
  }) as CommandLine;
}
