import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columns, harmless, wrap } from '../../../src/cli/terminal.ts';

describe('harmless', () => {
  it('replaces control characters by ?', () => {
    expect(harmless('a\u001b[2Jb\u0007c\rd\u202ee')).toBe('a?[2Jb?c?d?e');
    expect(harmless('Crème Zürich شركة')).toBe('Crème Zürich شركة');
  });
});

describe('wrap', () => {
  it('keeps every word in order and every line within the width, unless a word is longer', () => {
    const words = fc.array(fc.string({ minLength: 1, maxLength: 12 }).filter((word) => !/\s/.test(word)));
    fc.assert(
      fc.property(words, fc.integer({ min: 5, max: 40 }), (list, width) => {
        const lines = wrap(list.join(' '), width).split('\n');
        expect(lines.join(' ')).toBe(list.join(' '));
        for (const line of lines) expect(line.length <= width || !line.includes(' ')).toBe(true);
      }),
    );
  });

  it('leaves the text unchanged when the width is unlimited', () => {
    expect(wrap('a b c', Number.POSITIVE_INFINITY)).toBe('a b c');
  });
});

it('columns are as wide as their widest cell', () => {
  expect(
    columns([
      ['id', 'x'],
      ['longer', ''],
    ]),
  ).toBe('id      x\nlonger');
});
