import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { PROCESSES } from '../../vitest.config.ts';

/** Hundreds of kills, soak, a million documents: one file at a time, so that measurements don't disturb one another. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/long/**/*.test.ts'],
    ...PROCESSES,
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 30 * 60_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 5 * 60_000,
    teardownTimeout: 60_000,
    reporters: ['verbose', './scripts/test-reporter.ts'],
  },
});
