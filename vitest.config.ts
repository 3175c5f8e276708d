import { defineConfig } from 'vitest/config';
import WaitingFirst from './scripts/test-sequencer.ts';
import { COMPILED_MODULES } from './src/compile-cache.ts';

/** How tests are loaded and run. */
export const PROCESSES = {
  pool: 'forks',
  // Node runs the TypeScript itself, as it runs the service: nothing is transformed.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // The threads and processes that tests start take compiled modules from here.
  // What a developer set in .env changes no test.
  env: {
    NODE_COMPILE_CACHE: COMPILED_MODULES,
    ENV_FILE: '',
  },
} as const;

/** Everything that decides whether a change may land; what takes longer has its own configuration in test/long. */
export default defineConfig({
  test: {
    ...PROCESSES,
    maxWorkers: 2,
    // The files of a worker share its process, so the service is loaded once a worker, not once for each file. A test
    // file must therefore undo what it changes in its process.
    isolate: false,
    sequence: { sequencer: WaitingFirst },
    // Two groups, each in processes of its own, one group after the other: unit tests replace timers and clocks, which a
    // service that other files of the process share (`withSharedService`) would not survive.
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: {
          name: 'service',
          // More than half of what these take is waiting: for processes to start, for retries, for leases to end.
          maxWorkers: 4,
          setupFiles: ['test/support/cheap-passwords.ts'],
          include: ['test/**/*.test.ts'],
          exclude: ['test/unit/**', 'test/long/**'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
    // Against what hangs; speed is measured by the benches, and a loaded machine is no failure.
    testTimeout: 120_000,
    expect: { poll: { timeout: 45_000 } },
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    reporters: ['default', './scripts/test-reporter.ts'],
  },
});
