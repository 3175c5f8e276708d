#!/usr/bin/env node
import * as modules from 'node:module';
import type { CommandContext } from '../../../src/cli/command.ts';

// Before the commands are loaded, which takes longer than most of them run. Node 20 has no such cache.
modules.enableCompileCache?.();
const [{ INTERRUPTED }, { runCommandLine }, { processTerminal }, { COMMANDS, VERSION }, { localSender }] =
  await Promise.all([
    import('../../../src/cli/command.ts'),
    import('../../../src/cli/run.ts'),
    import('../../../src/cli/terminal.ts'),
    import('./commands.ts'),
    import('./local-sender.ts'),
  ]);

const context: CommandContext = {
  terminal: processTerminal(),
  config: () => {
    throw new Error('the command has no settings of a service');
  },
  environmentKey: () => null,
  // Commands of this program use no other part of the service.
  parts: { localSender: async () => ({ localSender }) } as unknown as CommandContext['parts'],
};
const program = { name: 'fatoura', version: () => VERSION };
const exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, context, program);
// Output that nobody reads would keep an interrupted command alive.
if (exitCode === INTERRUPTED) setTimeout(() => process.exit(exitCode), 500);
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
