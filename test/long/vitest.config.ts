import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { PROCESSES } from '../../vitest.config.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Files of `npm test` that try a part of their cases there, and all of them here (test/support/samples.ts, which the
 * suite of the clients and the rules of accessibility read for them).
 */
const SAMPLED = globSync('test/*/**/*.test.ts', { cwd: ROOT }).filter((file) =>
  /support\/(samples|client-suite|workspace-page)\.ts'/.test(readFileSync(join(ROOT, file), 'utf8')),
);

/** Hundreds of kills, soak, a million documents: one file at a time, so that measurements don't disturb one another. */
export default defineConfig({
  test: {
    root: ROOT,
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
