import type { Reporter, TestModule } from 'vitest/node';

/** What the closing line counts. */
export interface TestTally {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Counts a run's tests. Whatever failed outside a test (a file that does not load, a failing hook of a file or suite, an
 * unhandled error) counts as one failure each, so that "0 failed" is never said of a run that failed.
 */
export function tallyTests(modules: readonly TestModule[], unhandledErrors: number): TestTally {
  const tally: TestTally = { passed: 0, failed: unhandledErrors, skipped: 0 };
  for (const module of modules) {
    tally.failed += module.errors().length;
    for (const suite of module.children.allSuites()) tally.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') tally.passed++;
      else if (state === 'failed') tally.failed++;
      else tally.skipped++;
    }
  }
  return tally;
}

/** The line that CI reads, alone on its line: `tests: 12 passed, 0 failed, 1 skipped`. */
export function closingLine({ passed, failed, skipped }: TestTally): string {
  return `tests: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Vitest reporter that ends the run with the closing line; it goes last in `reporters`. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: string): void {
    const tally = tallyTests(modules, unhandledErrors.length);
    if (reason !== 'passed' && tally.failed === 0) tally.failed = 1;
    process.stdout.write(`${closingLine(tally)}\n`);
  }
}
