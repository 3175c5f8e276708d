import { startApp } from './app.ts';
import { greeting } from './cli/greeting.ts';
import { ConfigError, readConfig } from './config.ts';

// The process: start, signals, exit codes. 1: it failed; 2: its settings are wrong.

try {
  const config = readConfig();
  const app = await startApp(config);
  console.log(greeting(app.url, app.firstStart, config.sites?.test));
  let closing = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // A second signal does not wait.
      if (closing) process.exit(1);
      closing = true;
      // Work that outlives its time to finish fails on the closed store; its lease ends, and whoever is there takes it up.
      process.on('unhandledRejection', () => undefined);
      void app.close().then(() => process.exit(0));
    });
  }
} catch (error) {
  console.error(
    error instanceof ConfigError
      ? `The settings are wrong:\n${error.message}`
      : `Fatoura can not start: ${(error as Error).message}`,
  );
  process.exit(error instanceof ConfigError ? 2 : 1);
}
