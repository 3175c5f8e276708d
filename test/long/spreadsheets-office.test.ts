import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workbookTemplates } from '../../src/adapters/spreadsheet/template.ts';
import { DOCUMENT_LANGUAGES } from '../../src/domain/document-language.ts';
import { COLUMN_HEADERS } from '../../src/domain/imports/column-headers.ts';
import { hasTool } from '../support/tools.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures/spreadsheets');
const BOOKS = readdirSync(FIXTURES).filter((name) => name.endsWith('.xlsx'));
/** What LibreOffice writes of the first sheet: UTF-8 with commas. */
const CSV = 'csv:Text - txt - csv (StarCalc):44,34,76';

// The workbooks of the tests are written part by part, so another program says whether they are workbooks at all.
describe.skipIf(!hasTool('soffice'))('LibreOffice (skipped without soffice)', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'office-'));
    for (const language of DOCUMENT_LANGUAGES)
      writeFileSync(
        join(folder, `template-${language}.xlsx`),
        Buffer.concat(await Array.fromAsync(workbookTemplates.write(language))),
      );
    const books = [
      ...BOOKS.map((name) => join(FIXTURES, name)),
      ...DOCUMENT_LANGUAGES.map((language) => join(folder, `template-${language}.xlsx`)),
    ];
    const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
    execFileSync('soffice', ['--headless', profile, '--convert-to', CSV, '--outdir', join(folder, 'out'), ...books], {
      stdio: 'ignore',
    });
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const textOf = (name: string) => readFileSync(join(folder, 'out', name.replace('.xlsx', '.csv')), 'utf8');

  it.each(BOOKS)('opens %s', (name) => {
    expect(textOf(name).trim()).not.toBe('');
  });

  it.each(DOCUMENT_LANGUAGES)('opens the template (%s)', (language) => {
    expect(textOf(`template-${language}.xlsx`)).toContain(COLUMN_HEADERS['customer.name'][language]);
  });
});
