import { DOMParser } from '@xmldom/xmldom';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cssString, html, isolated, Markup, replacedCharacters } from '../../../src/text/markup.ts';

describe('html', () => {
  test('takes values as text and markup as it is', () => {
    expect(html`<b title="${`"'&`}">${'<i>&'}</b>${null}${7}${[html`<u>`, new Markup('&amp;')]}`.text).toBe(
      '<b title="&quot;&#39;&amp;">&lt;i&gt;&amp;</b>7<u>&amp;',
    );
  });

  test('shows any text as that text, in content and in attributes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const page = html`<p title="${text}">${text}</p>`.text;
        const element = new DOMParser().parseFromString(page, 'text/xml').documentElement!;
        // This parser reads a separator of lines or of paragraphs as a line feed, the former as XML 1.1 has it.
        const read = text.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n');
        const shown = read.replaceAll(/[\u2066-\u2069\ufffd]|[^\P{Cc}\n\t]|[\u202d\u202e]/gu, '');
        expect(element.textContent!.replaceAll(/[\u2066-\u2069\ufffd]/g, '')).toBe(shown);
        expect(element.childNodes.length).toBeLessThanOrEqual(1);
        expect(element.attributes.length).toBe(1);
      }),
      { examples: [['a\u2028b\u2029c']] },
    );
  });

  test('shows what would deceive or not be drawn as a replacement character', () => {
    expect(html`${'a\u202e100,00\u202c'}`.text).toBe('a\ufffd100,00\u202c');
    expect(html`${'\u0000\u0085\ud800\t\n'}`.text).toBe('\ufffd\ufffd\ufffd\t\n');
  });

  test('breaks lines where the text does, whatever system it was written on', () => {
    expect(html`${'12, rue des Orangers\r\nCasablanca\rMaroc\n'}`.text).toBe(
      '12, rue des Orangers\nCasablanca\nMaroc\n',
    );
  });

  test('lets marks pile up no higher than a language needs, so that they cover no other line', () => {
    expect(html`${`a${'\u0300'.repeat(500)}b`}`.text).toBe(`a${'\u0300'.repeat(6)}\ufffdb`);
    expect(html`${`${'\u{1d167}'.repeat(9)}`}`.text).toBe(`${'\u{1d167}'.repeat(6)}\ufffd`);
    const vocalized = 'قَالَ مُحَمَّدٌ ﷺ Tiếng Việt';
    expect(html`${vocalized.normalize('NFD')}`.text).toBe(vocalized.normalize('NFD'));
  });

  test('lets no text end or outlive an isolation', () => {
    expect(html`${'a\u2069b'}`.text).toBe('a\ufffdb');
    expect(html`${'\u2067a'}`.text).toBe('\u2067a\u2069');
    expect(html`${'\u2067a\u2069'}`.text).toBe('\u2067a\u2069');
    expect(isolated('\u2069ش')).toBe('\u2068\ufffdش\u2069');
    expect(isolated('\u2067x')).toBe('\u2068\u2067x\u2069\u2069');
    expect(isolated('Atlas')).toBe('Atlas');
  });
});

describe('replacedCharacters', () => {
  test.each([
    ['Atlas \u202egnidaeR', ['\u202e']],
    ['Prix \u202e00,001\u202c MAD', ['\u202e']],
    ['a\u2069b\u2069', ['\u2069']],
    [`a${'\u0301'.repeat(499)}`, ['\u0301']],
    [`a${'\u0301'.repeat(7)}\u0300`, ['\u0301', '\u0300']],
    ['\ud800 \u0085', ['\ud800', '\u0085']],
    ['\u2067a\u2069 b\r\nc\t', []],
    ['Atlas SARL', []],
  ])('of %j are %j', (text, replaced) => {
    expect(replacedCharacters(text)).toEqual(replaced);
  });

  test('are there exactly if a replacement character is written that the text does not have', () => {
    const character = fc.constantFrom('a', '\r', '\u202e', '\u2067', '\u2069', '\u0301', '\ud800', '\u0001', '北');
    fc.assert(
      fc.property(fc.array(character, { maxLength: 30 }), (characters) => {
        const text = characters.join('');
        expect(html`${text}`.text.includes('\ufffd')).toBe(replacedCharacters(text).length > 0);
      }),
    );
  });
});

describe('cssString', () => {
  test('is one CSS string that reads back as the text, and leaves nothing that could end it or the style element', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('"; } </style><script>', '\\', '\n@import')), (text) => {
        const literal = cssString(text);
        expect(literal).toMatch(/^"(?:[a-zA-Z0-9]|\\[0-9a-f]{1,6} )*"$/);
        const back = literal
          .slice(1, -1)
          .replaceAll(/\\([0-9a-f]+) /g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
        expect(back).toBe(text.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]/gu, '\ufffd'));
      }),
    );
  });
});
