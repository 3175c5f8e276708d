import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { inflated } from '../../../src/adapters/pades/pdf-syntax.ts';
import { readPrintedPdf } from '../../../src/adapters/pades/printed-pdf.ts';
import { drawable, undrawableCharacters } from '../../../src/adapters/pdf/drawable-text.ts';
import { fontFaces } from '../../../src/adapters/pdf/fonts.ts';
import { invoicePage } from '../../../src/adapters/pdf/invoice-page.ts';
import { createPdfRenderer } from '../../../src/adapters/pdf/pdf-renderer.ts';
import { unshownCharacters } from '../../../src/adapters/pdf/unshown-characters.ts';
import { createInvoiceWarnings } from '../../../src/domain/invoice/unprintable-warnings.ts';
import { CHROMIUM_CACHE, line, printed } from './support.ts';

describe('a cluster of characters', () => {
  test.each([
    ['keycaps', '1️⃣ #️⃣ *⃣'],
    ['flags', '🇲🇦 🇫🇷'],
    ['skin tones', '👍🏽 👩🏿‍💻'],
    ['joined emoji', '👨‍👩‍👧‍👦 🏳️‍🌈 ❤️‍🔥'],
    ['tags', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    ['variation selectors', '❤️ ☑️ ™️'],
    ['Arabic marks', 'مُحَمَّدٌ'],
    ['Devanagari', 'हिन्दी क्षत्रिय'],
  ])('is shown as it is where one font has it: %s', async (_, text) => {
    expect(await drawable(text)).toBe(text);
    expect(await undrawableCharacters(text)).toEqual([]);
  });

  test('has the font that has all of it: that of emoji for a keycap, whose parts other fonts have too', async () => {
    expect(await fontFaces('1️⃣')).toContain('U+23,U+2a,U+30-39,');
    expect(await fontFaces('1 \u20e3')).not.toContain('U+23,U+2a,U+30-39,');
  });

  test('is cut where no font has all of it, and named', async () => {
    expect(await drawable('a 👪🏾 b e\u20dd x')).toBe('a 👪\ufffd b e\ufffd x');
    expect(await undrawableCharacters('a 👪🏾 b x')).toEqual(['👪🏾']);
    // A skin tone stands on the space before it.
    expect(await drawable('a 🏻')).toBe('a \ufffd');
    expect(await drawable('<b>\u20e3</b>')).toBe('<b>\u20e3</b>');
    const { invoice } = printed({ lines: [line('👪🏾', 1, 100, 20)] });
    const warnings = await createInvoiceWarnings(unshownCharacters)({ ...invoice, createdAt: new Date() } as never);
    expect(warnings.find(({ path }) => path === 'lines.0.description')?.message).toContain('👪🏾 (U+1F46A U+1F3FE)');
  });

  test('is composed, as macOS does not, where a font has the letter with its marks', async () => {
    const text = 'Ångström Čech Tiếng Việt naïve';
    expect(await drawable(text.normalize('NFD'))).toBe(text.normalize('NFC'));
    expect(await undrawableCharacters(text.normalize('NFD'))).toEqual([]);
  });
});

describe('a presentation form without a glyph', () => {
  test.each([
    ['ligatures of Latin letters', 'oﬃce ﬁn ﬂux ﬀ ﬄ ﬅ ﬆ', 'office fin flux ff ffl st st'],
    ['wide forms', 'ＡＢＣ１２３', 'ABC123'],
  ])('is shown as the letters that it stands for: %s', async (_, text, letters) => {
    expect(await drawable(text)).toBe(letters);
    expect(await undrawableCharacters(text)).toEqual([]);
  });

  test('is no markup: wide angle brackets, ampersands and quotes are escaped', async () => {
    const page = await invoicePage(printed({ lines: [line('＜script＞＆lt;＂＇ ＞\u0338', 1, 100, 20)] }));
    expect(page).toContain('&lt;script&gt;&amp;lt;&quot;&#39;');
    expect(page).not.toContain('<script');
  });

  test('of Arabic and Hebrew letters is never shown as U+FFFD', async () => {
    for (let code = 0xfb1d; code <= 0xfefc; code += 1) {
      const form = String.fromCodePoint(code);
      if (!/[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(form) || !/\p{L}/u.test(form)) continue;
      expect(await drawable(form), code.toString(16)).not.toContain('\ufffd');
    }
  });
});

/** One of each of these lists, and then one to three of these. */
const BEGINNINGS = [
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u,
  /[\p{Script=Arabic}\p{Script=Hebrew}]/u,
  /\p{Extended_Pictographic}/u,
  /\p{Emoji_Modifier_Base}/u,
  /[\p{S}\p{P}\p{N}]/u,
  /\p{RI}/u,
  /[\p{M} ]/u,
  /[\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffee]/,
];
const FURTHER = [/\p{M}/u, /\p{Emoji_Modifier}/u, /[\u0300-\u036f]/, /[\u064b-\u065f]/, /\p{RI}/u];
const JOINED = ['\ufe0f', '\ufe0e', '\u20e3', '\ufe0f\u20e3', '\u200d', '\u200d❤️', '\u200d💻', '\u200d♂️', '\u200d🛸'];
const ALL = Array.from({ length: 0x1fb00 }, (_, code) => code).filter(
  (code) => code > 0x20 && (code & 0xf800) !== 0xd800,
);
const oneOf = (kinds: readonly RegExp[]) => {
  const lists = kinds.map((kind) => ALL.map((code) => String.fromCodePoint(code)).filter((each) => kind.test(each)));
  return fc.oneof(...lists.map((list) => fc.constantFrom(...list)));
};
const cluster = fc
  .tuple(
    oneOf(BEGINNINGS),
    fc.array(fc.oneof(oneOf(FURTHER), fc.constantFrom(...JOINED)), { minLength: 1, maxLength: 3 }),
  )
  .map(([first, further]) => first + further.join(''));

describe('a page with any clusters', () => {
  const renderer = createPdfRenderer({ cacheDir: CHROMIUM_CACHE, timeLimit: 60_000 });
  afterAll(() => renderer.close());

  test('shows glyphs of its own fonts only, and no missing one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(cluster, { minLength: 500, maxLength: 500 }), async (clusters) => {
        const pdf = await renderer.render(printed({ lines: clusters.map((each) => line(each, 1, 100, 20)) }));
        const { objects } = readPrintedPdf(pdf);
        const texts = [...objects.values()].filter(({ isStream }) => !isStream).map(({ content }) => `${content}`);
        const fonts = texts.flatMap((text) => /\/BaseFont \/(?:\w+\+)?([\w-]+)/.exec(text)?.[1] ?? []);
        expect(new Set(fonts.filter((font) => !/^(Noto|IBMPlexSansArabic|OpenSans)/.test(font)))).toEqual(new Set());
        const pages = texts.flatMap((text) =>
          /\/Type ?\/Page\b/.test(text) ? (/\/Contents (\d+) 0 R/.exec(text)?.[1] ?? []) : [],
        );
        expect(pages.length).toBeGreaterThan(1);
        for (const page of pages) {
          expect(inflated(objects.get(Number(page))!.content)).not.toMatch(
            /<(?:[0-9A-F]{4})*?0000(?:[0-9A-F]{4})*> Tj/,
          );
        }
      }),
      { numRuns: 2, seed: 20261128, endOnFailure: true },
    );
  });
});
