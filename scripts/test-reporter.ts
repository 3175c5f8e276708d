import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestModule } from 'vitest/node';

type ReportedError = ReturnType<TestModule['errors']>[number];

/** The counts in the closing line. */
export interface TestTally {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Counts the tests of a run. Each failure outside a test (a file that does not load, a failing hook of a file or suite,
 * an unhandled error) also counts as one failure, so that a failed run never reports "0 failed".
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

/** Returns the line that CI reads: `tests: 12 passed, 0 failed, 1 skipped`. */
export function closingLine({ passed, failed, skipped }: TestTally): string {
  return `tests: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Maximum number of characters of an error message, and of what differs, in a failure line. */
const SHOWN_CHARACTERS = 400;

/** Returns one line for a failure: test, message, difference, and the project line that threw the error. */
function failureLine(where: string, error: Partial<ReportedError> | undefined): string {
  const message = oneLine(error?.message ?? 'no error message');
  // The message of a comparison leaves out all but the first elements of a list.
  const differing = String(error?.diff ?? '')
    .split('\n')
    .map((line) => stripVTControlCharacters(line));
  const difference = message.includes('…(')
    ? oneLine(['', ...differing.filter((line) => /^[-+] (?!(Expected|Received)$)/.test(line))].join(' '))
    : '';
  const frame = error?.stacks?.find(({ file }) => !file.includes('/node_modules/'));
  const thrown = frame ? ` (${relative(process.cwd(), frame.file)}:${frame.line})` : '';
  return `-- failed: ${where}: ${message}${difference}${thrown}`;
}

function oneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\s+/g, ' ').slice(0, SHOWN_CHARACTERS);
}

/**
 * Returns one line for each failure that `tallyTests` counts. They are printed at the end of the output, because only
 * the end of a long output may be kept.
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

/**
 * A Vitest reporter that ends the run with its failures and the closing line. It must be the last one in `reporters`.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly ReportedError[], reason: string): void {
    const tally = tallyTests(modules, unhandledErrors.length);
    if (reason !== 'passed' && tally.failed === 0) tally.failed = 1;
    const lines = [...failureLines(modules, unhandledErrors), closingLine(tally)];
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }
}
