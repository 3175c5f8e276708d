import { waitForSlowAddresses } from './adapters/address-attempts.ts';
import type { CommandContext } from './cli/command.ts';
import { useCompileCache } from './compile-cache.ts';
import { endWithNpm } from './engine/parent-process.ts';

// The process of the command line.

useCompileCache();
waitForSlowAddresses();
// Loaded after the cache.
const [
  { INTERRUPTED, InputError },
  { COMMANDS },
  { runCommandLine },
  { processTerminal },
  { ConfigError, loadEnvFile, readClientKey, readConfig },
  { commandParts },
] = await Promise.all([
  import('./cli/command.ts'),
  import('./cli/commands.ts'),
  import('./cli/run.ts'),
  import('./cli/terminal.ts'),
  import('./config.ts'),
  import('./app/command-parts.ts'),
]);

/** Only when a command asks for settings: the help needs none. */
function withEnvFile<T>(read: () => T): T {
  try {
    loadEnvFile();
    return read();
  } catch (error) {
    throw error instanceof ConfigError ? new InputError(`The settings are invalid: ${error.message}`) : error;
  }
}

const context: CommandContext = {
  terminal: processTerminal(),
  config: () => withEnvFile(readConfig),
  environmentKey: () => withEnvFile(readClientKey),
  parts: commandParts,
};
endWithNpm();
const exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, context);
// Output that nobody reads would keep an interrupted command alive.
if (exitCode === INTERRUPTED) process.exit(exitCode);
// Agenda's timers of finished jobs would keep the demo's process for seconds.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
