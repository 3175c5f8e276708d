import { expect, it } from 'vitest';
import { readableLines } from '../../../src/transport/log-lines.ts';
import { createLogger } from '../../../src/transport/logger.ts';

/** What a terminal shows of entries. */
function shown(write: (log: ReturnType<typeof createLogger>) => void, coloured = false): string {
  let text = '';
  const output = {
    write(part: string) {
      text += part;
    },
  };
  write(createLogger('trace', readableLines(output, coloured)));
  return text;
}

it('an entry is a line with time, level, message and fields', () => {
  const text = shown((log) => log.warn({ invoiceId: 'inv_1', reason: 'no answer', tries: 2 }, 'it waits'));
  expect(text).toMatch(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARN {2}it waits invoiceId=inv_1 reason="no answer" tries=2\n$/,
  );
});

it('an error has its type, message, code and causes, and its stack below', () => {
  const cause = new TypeError('x is undefined');
  const err = Object.assign(new Error('no connection', { cause }), { code: 'ECONNREFUSED' });
  const expected = shown((log) => log.warn({ err }, 'failed'));
  expect(expected).toContain('failed [Error: no connection (ECONNREFUSED)] because of [TypeError: x is undefined]\n');
  expect(expected).toMatch(/^ {4}TypeError: x is undefined\n {8}at .*log-lines\.test\.ts/m);
  expect(shown((log) => log.error({ err: 'a text' }))).toContain('ERROR "a text"\n');
});

it('what a client sent can neither move the cursor nor begin a line', () => {
  const hostile = 'a\u001B[2Jb\nc\u009Bd\u202Ee';
  const text = shown((log) => log.warn({ name: hostile, [hostile]: 1, err: new Error(hostile) }, hostile));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for
  expect(text.trimEnd()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(text.split('\n').filter((line) => line.startsWith('c'))).toEqual([]);
  expect(text).toContain('a\\u{1b}[2Jb\\u{a}c\\u{9b}d\\u{202e}e');
});

it('colours are used only where the terminal has them', () => {
  const entry = (log: ReturnType<typeof createLogger>) => log.error('broken');
  expect(shown(entry, true)).toContain('\u001B[31mERROR\u001B[39m');
  expect(shown(entry)).not.toContain('\u001B');
});
