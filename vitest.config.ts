import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Everything that decides whether a change may land; what takes longer has its own configuration in test/long. */
export default defineConfig({
  // As Node itself resolves it: two copies of graphql do not know each other's schema.
  resolve: { alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }] },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/long/**'],
    // A process each: suites start servers, threads and browsers, and must not share a module's state.
    pool: 'forks',
    maxWorkers: 2,
    // Against what hangs; speed is measured by the benches, and a loaded machine is no failure.
    testTimeout: 120_000,
    expect: { poll: { timeout: 45_000 } },
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    reporters: ['default', './scripts/test-reporter.ts'],
  },
});
