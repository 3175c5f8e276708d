import { defineConfig } from 'vitest/config';

/** Everything that decides whether a change may land; what takes longer has its own configuration in test/long. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/long/**'],
    // A process each: suites start servers, threads and browsers, and must not share a module's state.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    reporters: ['default', './scripts/test-reporter.ts'],
  },
});
