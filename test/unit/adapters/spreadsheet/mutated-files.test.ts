import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UnreadableFile } from '../../../../src/domain/imports/reading.ts';
import { readSpreadsheet } from '../../../support/read-spreadsheet.ts';
import { zipFile } from '../../../support/workbook-file.ts';
import { unzipped } from '../../../support/zip.ts';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/spreadsheets');
const FILES = readdirSync(FIXTURES).filter((name) => /\.(csv|xlsx)$/.test(name));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mutated-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What is put in the place of a few bytes; places are parts of the length. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat({ max: 20 }),
  put: fc.constantFrom(
    '',
    '"',
    ';',
    '\0',
    '<',
    '&',
    '>',
    '\r',
    '9'.repeat(30),
    '-',
    '%',
    '=',
    'é',
    '</row>',
    '<row/>',
    '_x0000_',
  ),
});

function edited(bytes: Buffer, edits: readonly { at: number; cut: number; put: string }[]): Buffer {
  return edits.reduce((before, { at, cut, put }) => {
    const place = Math.floor(at * before.length);
    return Buffer.concat([before.subarray(0, place), Buffer.from(put), before.subarray(place + cut)]);
  }, bytes);
}

it('files with errors in any place are read or refused, and nothing else happens', async () => {
  const file = join(folder, 'file');
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...FILES),
      fc.nat(),
      fc.array(edit, { minLength: 1, maxLength: 4 }),
      async (name, part, edits) => {
        const bytes = readFileSync(join(FIXTURES, name));
        if (name.endsWith('.csv')) {
          writeFileSync(file, edited(bytes, edits));
        } else {
          const parts = [...(await unzipped(bytes))];
          const changed = parts.map(([path, content], nth) => [
            path,
            nth === part % parts.length ? edited(content, edits) : content,
          ]);
          writeFileSync(file, await zipFile(Object.fromEntries(changed)));
        }
        const outcome = await readSpreadsheet(file).then(
          () => null,
          (error: unknown) => error,
        );
        if (outcome !== null) expect(outcome).toBeInstanceOf(UnreadableFile);
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 150) },
  );
});
