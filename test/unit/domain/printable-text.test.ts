import { expect, it } from 'vitest';
import { filledText } from '../../../src/domain/printable-text.ts';

const isFilled = (text: string) => filledText(100, 'a text').safeParse(text).success;

it('a text of invisible characters only is refused, for all such characters of Unicode', () => {
  const ignorable = /^[\s\p{Default_Ignorable_Code_Point}]$/u;
  const wrong: string[] = [];
  for (let point = 0x20; point <= 0x10ffff; point++) {
    const character = String.fromCodePoint(point);
    if (ignorable.test(character) && isFilled(character)) wrong.push(point.toString(16));
  }
  expect(wrong).toEqual([]);
  expect(isFilled('\u{e0001}\u2800 \u200b')).toBe(false);
});

it.each(['A', 'é', 'شركة', '例', '😀', '👍🏽', '❤\ufe0f', '🏴\u{e0067}\u{e0062}\u{e007f}', '葛\u{e0100}', ' x '])(
  'takes %s',
  (text) => {
    expect(isFilled(text)).toBe(true);
  },
);
