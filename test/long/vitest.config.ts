import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { PROCESSES } from '../../vitest.config.ts';

/** Files of `npm test` that try a part of their random samples there, and all of them here (test/support/samples.ts). */
const SAMPLED = [
  'test/unit/engine/{robustness,planning,order,updates}.test.ts',
  'test/conformance/{hostile-messages,query-properties}.test.ts',
  'test/api/authority-callback.test.ts',
  'test/unit/xades/verify-canonical.test.ts',
];

/** Hundreds of kills, soak, a million documents: one file at a time, so that measurements don't disturb one another. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/long/**/*.test.ts', ...SAMPLED],
    ...PROCESSES,
    env: { ...PROCESSES.env, ALL_SAMPLES: '1' },
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 30 * 60_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 5 * 60_000,
    teardownTimeout: 60_000,
    reporters: ['verbose', './scripts/test-reporter.ts'],
  },
});
