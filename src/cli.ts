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
] = await Promise.all([
  import('./cli/command.ts'),
  import('./cli/commands.ts'),
  import('./cli/run.ts'),
  import('./cli/terminal.ts'),
  import('./config.ts'),
]);

const diagnosis = () => import('./app/diagnosis.ts');
const rotation = () => import('./app/key-rotation.ts');
const migration = () => import('./app/migration.ts');
const tenantData = () => import('./app/tenant-data.ts');
const verification = () => import('./app/verification.ts');

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
  parts: {
    openAdministration: async (config) => (await import('./app/administration.ts')).openAdministration(config),
    openReconciliation: async (config) =>
      (await import('./app/reconciliation.ts')).openReconciliation(config, async (settings) =>
        (await import('./app/authority.ts')).openCommandAuthority(settings),
      ),
    verifyDocument: async (document) => (await verification()).verifyDocument(document),
    trustedSigners: async (pem) => (await verification()).trustedSigners(pem),
    signingCertificate: async (config) => (await diagnosis()).signingCertificate(config),
    diagnoseMasterKey: async (config) => (await diagnosis()).diagnoseMasterKey(config),
    diagnoseRenderer: async (config) => (await diagnosis()).diagnoseRenderer(config),
    diagnoseAuthority: async (config) => (await diagnosis()).diagnoseAuthority(config),
    failingEndpoints: async (...given) => (await diagnosis()).failingEndpoints(...given),
    diagnoseLive: async (config) => (await diagnosis()).diagnoseLive(config),
    timeZoneData: async () => (await diagnosis()).timeZoneData(),
    diagnoseMail: async (config) => (await diagnosis()).diagnoseMail(config),
    diagnoseOpenFiles: async () => (await diagnosis()).diagnoseOpenFiles(),
    rotateMasterKey: async (...given) => (await rotation()).rotateMasterKey(...given),
    rotateDataKey: async (...given) => (await rotation()).rotateDataKey(...given),
    endDataKey: async (...given) => (await rotation()).endDataKey(...given),
    resealStoredSecrets: async (...given) => (await rotation()).resealStoredSecrets(...given),
    moveData: async (...given) => (await migration()).moveData(...given),
    abandonData: async (...given) => (await migration()).abandonData(...given),
    localSender: async () => (await import('./app/local-sender.ts')).localSender(),
    operationList: async (files, own) => {
      const { digestOf, makeOperationList } = await import('./graphql/operation-list.ts');
      return new Map([...makeOperationList(files), ...own.map((text) => [digestOf(text), text] as const)]);
    },
    sendBackup: async (config, output, options) =>
      (await import('./app/backup/backup-stream.ts')).sendBackup(config, output, options),
    receiveBackup: async (config, input, options) =>
      (await import('./app/backup/backup-stream.ts')).receiveBackup(config, input, options),
    takeBackup: async (config, options) => (await import('./app/backup/take-backup.ts')).takeBackup(config, options),
    followStore: async (config, options) => (await import('./app/backup/follow-store.ts')).followStore(config, options),
    restoreBackup: async (config, from, options) =>
      (await import('./app/backup/restore-backup.ts')).restoreBackup(config, from, options),
    checkStore: async (config, fault, say) => (await import('./app/check-store.ts')).checkStore(config, fault, say),
    exportTenantTo: async (...given) => (await tenantData()).exportTenantTo(...given),
    verifyExport: async (folder) => (await tenantData()).verifyExport(folder),
    startApp: async (config, parts) => (await import('./app/app.ts')).startApp(config, parts),
  },
};
endWithNpm();
const exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, context);
// Output that nobody reads would keep an interrupted command alive.
if (exitCode === INTERRUPTED) process.exit(exitCode);
// Agenda's timers of finished jobs would keep the demo's process for seconds.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
