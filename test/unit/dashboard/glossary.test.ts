import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
/** The folders that have texts for people in several languages. */
const FOLDERS = [
  'src/dashboard/text',
  'src/text',
  'src/adapters/email',
  'src/adapters/pdf',
  'src/transport/verify',
  'src/domain/conditions',
  'src/domain/morocco',
];

const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);

/** The rows of the glossary that rule words out: what they are about, and the words. */
const ROWS = readFileSync(join(ROOT, 'src/dashboard/text/glossary.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!thing)\w/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, thing = '', , , , not = '']) => ({ thing, words: not.split(', ').filter(Boolean) }))
  .filter(({ words }) => words.length > 0);

/** An Arabic letter, or the sign of a vowel. */
const ARABIC = '[\\u0621-\\u064A]';

describe('glossary', () => {
  it('has rows', () => {
    expect(ROWS.length).toBeGreaterThan(10);
    expect(FILES.length).toBeGreaterThan(30);
  });

  it.each(ROWS)('texts do not use other words for: $thing', ({ words }) => {
    const found = FILES.flatMap((file) => {
      const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
      return lines.flatMap((line, i) =>
        words.some((word) => line.includes(word)) ? [`${file}:${i + 1} ${line.trim()}`] : [],
      );
    });
    expect(found).toEqual([]);
  });

  it('Arabic texts separate words with Arabic commas', () => {
    const found = FILES.flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .filter(
          (line) => !/^\s*(?:\/?\*|\/\/)/.test(line) && new RegExp(`${ARABIC} ?[,;]|[,;] ${ARABIC}`, 'u').test(line),
        )
        .map((line) => `${file} ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});
