import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { drawable } from '../../../src/adapters/pdf/drawable-text.ts';
import { fontCoverage } from '../../../src/adapters/pdf/font-coverage.ts';

const font = (path: string) => readFile(createRequire(import.meta.url).resolve(`@fontsource/${path}`));

describe('fontCoverage', () => {
  test('finds the characters of a font, in the basic plane and beyond', async () => {
    const latin = await fontCoverage(await font('noto-sans/files/noto-sans-latin-400-normal.woff2'));
    const covers = (text: string) => [...text].map((each) => latin(each.codePointAt(0)!));
    expect(covers('aZ09é€–')).toEqual(Array(7).fill(true));
    expect(covers('Жش≤😀\uffff')).toEqual(Array(5).fill(false));
    const emoji = await fontCoverage(await font('noto-emoji/files/noto-emoji-9-400-normal.woff2'));
    expect([0x2665, 0x41].map(emoji)).toEqual([true, false]);
  });

  test('refuses a file that is not a font', async () => {
    await expect(fontCoverage(Buffer.alloc(100))).rejects.toThrow('not a WOFF2 font');
  });
});

describe('drawable', () => {
  test('keeps drawable characters, spaces and invisible characters', async () => {
    const text = 'Été №5 – 12\u202f000\u00a0€ ≤≥√ ↑ ✓ خدمات שלום ⴰⵣⵓⵍ हिन्दी 👍\ufe0f\u200d \u2068x\u2069';
    expect(await drawable(text)).toBe(text);
  });

  test('releases the event loop while it looks up thousands of new characters', async () => {
    let [turns, done] = [0, false];
    const turn = () => {
      turns++;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    const text = Array.from({ length: 4000 }, (_, n) => String.fromCodePoint(0x20000 + n)).join('');
    expect(await drawable(text)).toBe('\ufffd'.repeat(4000));
    done = true;
    expect(turns).toBeGreaterThan(30);
  });

  test('replaces other characters by U+FFFD', async () => {
    expect(await drawable('中 𓀀 \ue000 a')).toBe('\ufffd \ufffd \ufffd a');
  });
});
