import { localSender, openAdministration, trustedSigners, verifyDocument } from './app/administration.ts';
import { diagnoseMail, diagnoseMasterKey, diagnoseRenderer, signingCertificate } from './app/diagnosis.ts';
import { openReconciliation } from './app/reconciliation.ts';
import { type CommandContext, InputError } from './cli/command.ts';
import { COMMANDS } from './cli/commands.ts';
import { runCommandLine } from './cli/run.ts';
import { processTerminal } from './cli/terminal.ts';
import { ConfigError, readClientKey, readConfig } from './config.ts';
import { endWithNpm } from './engine/parent-process.ts';

// The process of the command line.

const context: CommandContext = {
  terminal: processTerminal(),
  config() {
    try {
      return readConfig();
    } catch (error) {
      throw error instanceof ConfigError ? new InputError(`The settings are invalid: ${error.message}`) : error;
    }
  },
  environmentKey: () => readClientKey(),
  parts: {
    openAdministration,
    openReconciliation: (config) =>
      openReconciliation(config, async (settings) =>
        (await import('./app/authority.ts')).openCommandAuthority(settings),
      ),
    verifyDocument,
    trustedSigners,
    signingCertificate,
    diagnoseMasterKey,
    diagnoseRenderer,
    diagnoseMail,
    localSender,
    // The service is large, and one command needs it.
    operationList: async (files, own) => {
      // The schema is large, too.
      const { digestOf, makeOperationList } = await import('./graphql/operation-list.ts');
      return new Map([...makeOperationList(files), ...own.map((text) => [digestOf(text), text] as const)]);
    },
    startApp: async (config, parts) => (await import('./app/app.ts')).startApp(config, parts),
  },
};
endWithNpm();
const exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, context);
// Agenda's timers of finished jobs would keep the demo's process for seconds.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
