import { Readable } from 'node:stream';
import readSpreadsheet from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import { resultWriter } from '../../../../src/adapters/spreadsheet/result-writer.ts';
import { packed } from '../../../../src/adapters/workbook/pack.ts';
import { workbookParts } from '../../../../src/adapters/workbook/parts.ts';
import { RESULT_COLUMNS } from '../../../../src/domain/imports/column-headers.ts';
import type { FileReading } from '../../../../src/domain/imports/reading.ts';
import { readingOf, resultOf, verdictOf } from '../../../support/import-reading.ts';
import { unzipped } from '../../../support/zip.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const HEADINGS = Object.values(RESULT_COLUMNS).map((headings) => headings.fr);

const SHEET = `<?xml version="1.0" encoding="UTF-8"?>
<worksheet xmlns="${MAIN}"><dimension ref="A1:C3"/><sheetViews><sheetView workbookViewId="0"/></sheetViews>
<cols><col min="1" max="2" width="20" customWidth="1"/><col min="3" max="16384" width="9" style="2"/></cols>
<sheetData>
<row r="1" spans="1:3" ht="20"><c r="A1" s="4" t="inlineStr"><is><t>Nom</t></is></c><c r="B1" s="4" t="str"><v>Prix</v></c></row>
<row r="2" spans="1:3"><c r="A2" t="inlineStr"><is><t>Atlas &amp; Cie</t></is></c><c r="B2"><f>2*50</f><v>100</v></c><c r="C2" s="2"/><c r="H2" s="2"/></row>
<row r="4"/>
</sheetData><mergeCells count="2"><mergeCell ref="A1:B1"/><mergeCell ref="A4:XFD4"/></mergeCells>
<dataValidations count="1"><dataValidation type="list" sqref="B2:B9"><formula1>"1>0,2"</formula1></dataValidation></dataValidations>
</worksheet>`;

async function workbookOf(sheet: string, others: Readonly<Record<string, string>> = {}): Promise<Buffer> {
  const parts = {
    ...workbookParts(['Autre', 'Factures'], false),
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${MAIN}"><sheetData/></worksheet>`,
    'xl/worksheets/sheet2.xml': sheet,
    ...others,
  };
  const files = Object.entries(parts).map(([path, content]) => ({ path, content }));
  return Buffer.concat(await Array.fromAsync(packed(files)));
}

async function written(book: Buffer, verdicts = [verdictOf(2)], changes: Partial<FileReading> = {}): Promise<Buffer> {
  return resultOf(resultWriter, book, readingOf('xlsx', changes), verdicts);
}

/** The columns of the sheet when it comes back. */
const RETURNED = ['Nom', 'Prix', ...HEADINGS].map((header, index) => ({
  index,
  header,
  key: header,
  field: null,
  isResult: index > 1,
}));

const rowsOf = async (book: Buffer) => (await readSpreadsheet(book)).find(({ sheet }) => sheet === 'Factures')?.data;

it('adds the columns after the last used one, and leaves all else as it is', async () => {
  const book = await workbookOf(SHEET, { 'xl/media/image1.png': 'x'.repeat(100_000) });
  const result = await written(book, [
    verdictOf(2, { reason: 'À vérifier: "<&>"\nprix' }),
    verdictOf(4, { number: '=1+1' }),
  ]);
  const [before, after] = [await unzipped(book), await unzipped(result)];
  expect([...after.keys()]).toEqual([...before.keys()]);
  const changed = ['xl/worksheets/sheet2.xml', 'xl/styles.xml'];
  for (const [path, bytes] of before) expect(after.get(path)?.equals(bytes), path).toBe(!changed.includes(path));
  expect(await rowsOf(result)).toEqual([
    ['Nom', 'Prix', ...HEADINGS],
    ['Atlas & Cie', 100, '2026-000001', 'Acceptée', 'À vérifier: "<&>"\nprix', 'DGI-1', 'https://facture.example/d/1'],
    Array(7).fill(null),
    [null, null, '=1+1', 'Acceptée', null, 'DGI-1', 'https://facture.example/d/1'],
  ]);
  const sheet = String(after.get('xl/worksheets/sheet2.xml'));
  expect(sheet).toContain('<dimension ref="A1:G4"/>');
  expect(sheet).toContain('<row r="1" ht="20">');
  // The heading looks like its neighbour; texts have the format of texts, so that typing in them makes no formula.
  expect(sheet).toContain('<c r="C1" s="4" t="inlineStr">');
  expect(sheet).toContain('<c r="C4" s="12" t="inlineStr">');
  expect(String(after.get('xl/styles.xml'))).toMatch(
    /<cellXfs count="13">(?:(?!<\/cellXfs>).)*numFmtId="49"[^>]*\/><\/cellXfs>/s,
  );
  // Columns do not overlap, and an empty cell with a format is replaced or stays behind.
  const columns = [...sheet.matchAll(/<col min="(\d+)" max="(\d+)"/g)].map(([, min, max]) => [
    Number(min),
    Number(max),
  ]);
  expect(columns).toEqual([
    [1, 2],
    [3, 3],
    [4, 4],
    [5, 5],
    [6, 6],
    [7, 7],
    [8, 16384],
  ]);
  expect(sheet).toMatch(/<c r="G2".*<c r="H2" s="2"\/><\/row>/s);
  const rest = (text: string) => text.slice(text.indexOf('</sheetData>'));
  expect(rest(sheet)).toBe(rest(SHEET));
});

describe('an automatic filter', () => {
  const names = [
    ['_xlnm._FilterDatabase', '1', 'Factures!$A$1:$B$4'],
    ['_xlnm._FilterDatabase', '0', 'Autre!$A$1:$B$4'],
    ['Prix', '1', 'Factures!$A$1:$B$4'],
  ] as const;
  const namesOf = (ranges: readonly string[]) =>
    names.map(
      ([name, sheet], nth) =>
        `<definedName name="${name}" localSheetId="${sheet}" hidden="1">${ranges[nth]}</definedName>`,
    );

  /** Returns the filter and the names of what comes back of a sheet with the filter. */
  async function returned(filter: string, book?: Buffer) {
    const workbook = workbookParts(['Autre', 'Factures'], false)['xl/workbook.xml'] ?? '';
    const sheet = SHEET.replace('<mergeCells', `${filter}<mergeCells`);
    const ranges = namesOf(names.map(([, , range]) => range)).join('');
    const withNames = workbook.replace('</sheets>', `</sheets><definedNames>${ranges}</definedNames>`);
    const first = await workbookOf(sheet, { 'xl/workbook.xml': withNames });
    const result = book ? await written(book, undefined, { columns: RETURNED }) : await written(first);
    const parts = await unzipped(result);
    const found = /<autoFilter.*<\/autoFilter>|<autoFilter[^>]*\/>/.exec(String(parts.get('xl/worksheets/sheet2.xml')));
    const ended = String(parts.get('xl/workbook.xml')).match(/<definedName .*?<\/definedName>/g);
    return { filter: found?.[0], names: ended, result };
  }

  it('gets the columns of the verdicts, and so does its name, once', async () => {
    const column = '<filterColumn colId="0"><filters><filter val="A1:B4"/></filters></filterColumn>';
    const first = await returned(`<autoFilter ref="A1:B4">${column}</autoFilter>`);
    expect(first.filter).toBe(`<autoFilter ref="A1:G4">${column}</autoFilter>`);
    expect(first.names).toEqual(namesOf(['Factures!$A$1:$G$4', 'Autre!$A$1:$B$4', 'Factures!$A$1:$B$4']));
    const again = await returned('', first.result);
    expect(again.filter).toBe(first.filter);
    expect(again.names).toEqual(first.names);
  });

  it.each(['A1:A4', 'A1', 'A:B', '#REF!', ''])('stays as it is if its range is %j', async (ref) => {
    const { filter, names: after } = await returned(`<autoFilter ref="${ref}"/>`);
    expect(filter).toBe(`<autoFilter ref="${ref}"/>`);
    expect(after).toEqual(namesOf(names.map(([, , range]) => range)));
  });
});

it('takes blanks, and what is beyond the columns that are read, for no content', async () => {
  const sheet = SHEET.replace(
    '<c r="H2" s="2"/>',
    '<c r="H2" t="inlineStr"><is><t xml:space="preserve">  </t></is></c><c r="I2" t="s"><v>1</v></c><c r="XFD2"><v>1</v></c>',
  );
  const strings = `<sst xmlns="${MAIN}"><si><t>Nom</t></si><si><t xml:space="preserve"> </t></si></sst>`;
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings';
  const relationships = workbookParts(['Autre', 'Factures'], false)['xl/_rels/workbook.xml.rels']?.replace(
    '</Relationships>',
    `<Relationship Id="rId9" Type="${type}" Target="sharedStrings.xml"/></Relationships>`,
  );
  const parts = { 'xl/_rels/workbook.xml.rels': relationships as string, 'xl/sharedStrings.xml': strings };
  const result = await written(await workbookOf(sheet, parts));
  const xml = String((await unzipped(result)).get('xl/worksheets/sheet2.xml'));
  expect(xml).toContain(`<c r="C1" s="4" t="inlineStr"><is><t xml:space="preserve">${HEADINGS[0]}`);
  expect(xml).not.toMatch(/r="XF[E-Z]/);
});

it('keeps the columns of an earlier return, whose verdicts it replaces', async () => {
  const first = await written(await workbookOf(SHEET), [
    verdictOf(2, { status: 'Erreur', reason: 'Prix', number: null }),
  ]);
  const columns = RETURNED;
  const second = await written(first, [verdictOf(2)], { columns });
  expect(await rowsOf(second)).toEqual([
    ['Nom', 'Prix', ...HEADINGS],
    ['Atlas & Cie', 100, '2026-000001', 'Acceptée', null, 'DGI-1', 'https://facture.example/d/1'],
  ]);
  // In the language of the file, too.
  const third = await written(second, [], { columns, language: 'ar' });
  expect(await rowsOf(third)).toEqual([
    ['Nom', 'Prix', ...HEADINGS],
    ['Atlas & Cie', 100, ...Array(5).fill(null)],
  ]);
});

it('leaves a formula that somebody wrote into a column of verdicts', async () => {
  const sheet = `<worksheet xmlns="${MAIN}"><sheetData><row r="1"><c r="A1" t="str"><v>Nom</v></c>
<c r="B1" t="str"><v>${HEADINGS[1]}</v></c></row><row r="2"><c r="A2" t="str"><v>Atlas</v></c>
<c r="B2"><f>A2</f><v>5</v></c></row></sheetData></worksheet>`;
  const columns = [{ index: 1, header: HEADINGS[1] as string, key: 'statut', field: null, isResult: true }];
  const result = await written(await workbookOf(sheet), [verdictOf(2)], { columns });
  expect(String((await unzipped(result)).get('xl/worksheets/sheet2.xml'))).toContain('<c r="B2"><f>A2</f><v>5</v></c>');
  expect((await rowsOf(result))?.[1]?.slice(0, 3)).toEqual(['Atlas', 5, '2026-000001']);
});

it('reads sheets with prefixes, without places of cells, and without formats', async () => {
  const sheet = `<?xml version="1.0"?><!-- <row> --><x:worksheet xmlns:x="${MAIN}"><x:sheetData><x:row><x:c t='str'><x:v>Nom</x:v></x:c></x:row>
<x:row/><x:row><x:c t="inlineStr"><x:is><x:t><![CDATA[</x:row><a]]></x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>`;
  const workbook = workbookParts(['Autre', 'Factures'], false);
  const relationships = workbook['xl/_rels/workbook.xml.rels']?.replace(/<Relationship Id="rId3"[^>]*>/, '');
  const book = await workbookOf(sheet, { 'xl/_rels/workbook.xml.rels': relationships as string });
  const result = String(
    (await unzipped(await written(book, [verdictOf(2), verdictOf(3), verdictOf(7)]))).get('xl/worksheets/sheet2.xml'),
  );
  expect(result).toContain('<x:cols><x:col min="2"');
  expect(result).toContain(
    '<x:row><x:c r="B2" t="inlineStr"><x:is><x:t xml:space="preserve">2026-000001</x:t></x:is></x:c>',
  );
  expect(result).toContain('<![CDATA[</x:row><a]]></x:t></x:is></x:c><x:c r="B3" t="inlineStr">');
  expect(result).toContain('<x:row r="7"><x:c r="B7"');
});

it('shortens a text to what a cell can have', async () => {
  const result = await written(await workbookOf(SHEET), [verdictOf(2, { reason: 'é'.repeat(40_000) })]);
  const [, second] = (await rowsOf(result)) ?? [];
  expect(second?.[4]).toBe(`${'é'.repeat(32_766)}…`);
});

it.each([
  ['a file that is no ZIP', () => Buffer.from('PK nothing')],
  ['a workbook without the sheet', async () => Buffer.concat(await Array.fromAsync(packed([])))],
])('fails for %s', async (_, make) => {
  await expect(written(await make())).rejects.toThrow();
});

it('writes parts in UTF-16 as UTF-8', async () => {
  const sheet = SHEET.replace('UTF-8', 'UTF-16');
  const wide = () => Readable.from([Buffer.from(`\ufeff${sheet}`, 'utf16le')]);
  const files = Object.entries({ ...workbookParts(['Factures'], false), 'xl/worksheets/sheet1.xml': wide });
  const book = Buffer.concat(await Array.fromAsync(packed(files.map(([path, content]) => ({ path, content })))));
  const result = await written(book);
  expect(String((await unzipped(result)).get('xl/worksheets/sheet1.xml'))).toMatch(
    /^<\?xml version="1\.0"\?>\n<worksheet/,
  );
  expect((await rowsOf(result))?.[1]?.slice(0, 3)).toEqual(['Atlas & Cie', 100, '2026-000001']);
});
