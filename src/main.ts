import { waitForSlowAddresses } from './adapters/address-attempts.ts';
import { useCompileCache } from './compile-cache.ts';
import { endWithNpm } from './engine/parent-process.ts';

// The process: start, signals and exit codes. Exit code 1: a failure, after which a supervisor starts it again; 2: only a
// person can mend it, such as invalid settings.

/**
 * npm forwards signals that the terminal, or whoever ends the process group, has already sent. Two signals within this
 * time (milliseconds) count as one.
 */
const ONE_SIGNAL_MS = 1000;

waitForSlowAddresses();
const forgetNpm = endWithNpm();
// All else is loaded after `endWithNpm`, because loading takes a while and npm may end meanwhile, and after the cache.
const keepCompiled = useCompileCache();
const [{ ConfigError }, { SetupError }] = await Promise.all([import('./config.ts'), import('./domain/setup-error.ts')]);
try {
  const { readSettings } = await import('./app/settings.ts');
  const config = await readSettings((text) => console.error(text));
  const [{ startApp }, { greeting }] = await Promise.all([import('./app/app.ts'), import('./cli/greeting.ts')]);
  // The log entry is written before `onFatal`. The process exits without waiting: leases expire, and the next process
  // resumes the work.
  const app = await startApp(config, { onFatal: () => process.exit(1) });
  process.on('uncaughtException', app.fail);
  let closingSince: number | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (closingSince !== null) {
        // A second signal ends the process at once.
        if (performance.now() - closingSince > ONE_SIGNAL_MS) process.exit(1);
        return;
      }
      closingSince = performance.now();
      // Its end is no second signal.
      forgetNpm();
      // Work that exceeds the grace period fails on the closed store. Its lease expires and another process resumes it.
      process.on('unhandledRejection', () => undefined);
      // After Ctrl-C in a terminal, only requests in flight are awaited, not idle connections that may send one.
      const patient = !(signal === 'SIGINT' && process.stdin.isTTY);
      void app.close({ patient }).then(() => process.exit(0));
    });
  }
  // After the handlers: whoever reads it may send a signal at once.
  say(greeting(app.url, app.firstStart, config.sites?.test));
  // A process that is killed would keep nothing.
  keepCompiled();
} catch (error) {
  console.error(
    error instanceof ConfigError
      ? `The settings are invalid:\n${error.message}`
      : `Fatoura cannot start: ${(error as Error).message}`,
  );
  process.exit(error instanceof ConfigError || error instanceof SetupError ? 2 : 1);
}

/** Prints a text that must not be lost: on standard error where nobody reads standard output any more (`| head`). */
function say(text: string): void {
  // Told to the callback.
  process.stdout.on('error', () => undefined);
  process.stdout.write(`${text}\n`, (error) => {
    if (error) console.error(text);
  });
}
