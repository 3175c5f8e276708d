import { ConfigError, readConfig } from './config.ts';
import { endWithNpm } from './engine/parent-process.ts';

// The process: start, signals, exit codes. 1: it failed; 2: its settings are wrong.

/** npm passes a signal on that the terminal has given already: two within as long (milliseconds) are one. */
const ONE_SIGNAL_MS = 500;

endWithNpm();
try {
  const config = readConfig();
  // The rest of the service takes a while to load, and npm may end meanwhile.
  const [{ startApp }, { greeting }] = await Promise.all([import('./app/app.ts'), import('./cli/greeting.ts')]);
  // The log is written by then. Nothing is waited for: leases end by themselves, and whoever starts the service again takes its work up.
  const app = await startApp(config, { onFatal: () => process.exit(1) });
  process.on('uncaughtException', app.fail);
  console.log(greeting(app.url, app.firstStart, config.sites?.test));
  let closingSince: number | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (closingSince !== null) {
        // A second signal does not wait.
        if (performance.now() - closingSince > ONE_SIGNAL_MS) process.exit(1);
        return;
      }
      closingSince = performance.now();
      // Work that outlives its time to finish fails on the closed store; its lease ends, and whoever is there takes it up.
      process.on('unhandledRejection', () => undefined);
      // Whoever presses Ctrl-C waits for requests in flight, not for connections that may bring one.
      const patient = !(signal === 'SIGINT' && process.stdin.isTTY);
      void app.close({ patient }).then(() => process.exit(0));
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
