import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestModule } from 'vitest/node';

type ReportedError = ReturnType<TestModule['errors']>[number];

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

/** The most characters of an error's message that a line of a failure shows. */
const SHOWN_CHARACTERS = 400;

/** A line for a failure: where, with what message, and thrown at which line of the project. */
function failureLine(where: string, error: Pick<ReportedError, 'message' | 'stacks'> | undefined): string {
  const message = stripVTControlCharacters(error?.message ?? 'no error was told').replaceAll(/\s+/g, ' ');
  const frame = error?.stacks?.find(({ file }) => !file.includes('/node_modules/'));
  const thrown = frame ? ` (${relative(process.cwd(), frame.file)}:${frame.line})` : '';
  return `-- failed: ${where}: ${message.slice(0, SHOWN_CHARACTERS)}${thrown}`;
}

/**
 * A line for each failure that `tallyTests` counts. They stand at the end of a run's output, because that end is what is
 * kept of a long one.
 */
export function failureLines(modules: readonly TestModule[], unhandledErrors: readonly ReportedError[]): string[] {
  const lines = unhandledErrors.map((error) => failureLine('outside a test', error));
  for (const module of modules) {
    const file = module.relativeModuleId;
    for (const error of module.errors()) lines.push(failureLine(file, error));
    for (const suite of module.children.allSuites()) {
      for (const error of suite.errors()) lines.push(failureLine(`${file} > ${suite.fullName}`, error));
    }
    for (const test of module.children.allTests('failed')) {
      lines.push(failureLine(`${file} > ${test.fullName}`, test.result().errors?.[0]));
    }
  }
  return lines;
}

/** Vitest reporter that ends the run with its failures and the closing line; it goes last in `reporters`. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly ReportedError[], reason: string): void {
    const tally = tallyTests(modules, unhandledErrors.length);
    if (reason !== 'passed' && tally.failed === 0) tally.failed = 1;
    const lines = [...failureLines(modules, unhandledErrors), closingLine(tally)];
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }
}
