import { expect, it } from 'vitest';
import { encoderOf } from '../../../../src/adapters/spreadsheet/encode-text.ts';
import { resultWriter } from '../../../../src/adapters/spreadsheet/result-writer.ts';
import { RESULT_COLUMNS } from '../../../../src/domain/imports/column-headers.ts';
import type { FileReading } from '../../../../src/domain/imports/reading.ts';
import { readingOf, resultOf, verdictOf } from '../../../support/import-reading.ts';

const HEADINGS = Object.values(RESULT_COLUMNS).map((headings) => headings.fr);
const ADDED = '2026-000001;Acceptée;;DGI-1;https://facture.example/d/1';

async function written(text: string, changes: Partial<FileReading>, verdicts = [verdictOf(2)]): Promise<string> {
  const reading = readingOf('csv', changes);
  const encoding = reading.encoding ?? 'utf-8';
  const bytes = await resultOf(resultWriter, encoderOf(encoding)(text), reading, verdicts);
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}

it('adds the fields after the last used one, and leaves all else as it is', async () => {
  const text = [
    '\ufeffNom;"Dési""gnation"; Prix ;;\r\n',
    '"Atlas; SARL";"Conseil\r\nen deux lignes";1 234,56;;\r\n',
    '\r\n',
    ';Déplacement;100;\n',
    '=A1;autre;5;12;\r',
    'Total',
  ].join('');
  const result = await written(text, {}, [
    verdictOf(2),
    verdictOf(4, { number: null, status: null, reason: 'Prix', dgiId: null, pdfUrl: null }),
  ]);
  expect(result).toBe(
    [
      `\ufeffNom;"Dési""gnation"; Prix ;;${HEADINGS.join(';')}\r\n`,
      `"Atlas; SARL";"Conseil\r\nen deux lignes";1 234,56;;${ADDED}\r\n`,
      '\r\n',
      ';Déplacement;100;;;;Prix\n',
      "'=A1;autre;5;12;\r",
      'Total',
    ].join(''),
  );
});

it.each(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'windows-1256'])(
  'keeps the encoding %s',
  async (encoding) => {
    const reason = 'Élément manquant\u202f: « prix »…';
    const result = await written('Nom\tPrix\r\nSté Générâle\t5', { encoding, separator: '\t' }, [
      verdictOf(2, { reason }),
    ]);
    const [, second = ''] = result.split('\r\n');
    expect(second.startsWith('Sté Générâle\t5\t2026-000001\t')).toBe(true);
    const expected = {
      'windows-1252': reason.replace('\u202f', '\u00a0'),
      'windows-1256': 'Elément manquant\u00a0: « prix »…',
    };
    expect(second.split('\t')[4]).toBe(expected[encoding as keyof typeof expected] ?? reason);
  },
);

it('writes Arabic in Windows-1256', async () => {
  const result = await written('الاسم;الثمن\nشركة;5\n', { encoding: 'windows-1256', language: 'ar' }, [
    verdictOf(2, { status: 'مقبولة' }),
  ]);
  expect(result).toContain('شركة;5;2026-000001;مقبولة;');
  expect(result).toContain(RESULT_COLUMNS.status.ar);
});

it('replaces the columns of an earlier return, and clears those of rows without a verdict', async () => {
  const columns = ['Nom', ...HEADINGS].map((header, index) => ({
    index,
    header,
    key: header,
    field: null,
    isResult: index > 0,
  }));
  const text = `Nom;${HEADINGS.join(';')};Note\nAtlas;;Erreur;Prix;;;payée\nZénith;x;y;z;;;\n`;
  expect(await written(text, { columns })).toBe(`Nom;${HEADINGS.join(';')};Note\nAtlas;${ADDED};payée\nZénith;;;;;;\n`);
  // A removed column comes back at the end.
  const without = columns.filter(({ header }) => header !== HEADINGS[1]).map((each, index) => ({ ...each, index }));
  const rest = HEADINGS.filter((_, i) => i !== 1);
  expect(await written(`Nom;${rest.join(';')}\nAtlas\n`, { columns: without })).toBe(
    `Nom;${rest.join(';')};${HEADINGS[1]}\nAtlas;2026-000001;;DGI-1;https://facture.example/d/1;Acceptée\n`,
  );
});

it('counts rows as spreadsheet programs do', async () => {
  const result = await written('sep=;\nListe\n\nNom;Prix\n\nAtlas;"5\n"\nZénith;6', { headerRow: 3 }, [verdictOf(5)]);
  expect(result).toBe(`sep=;\nListe\n\nNom;Prix;${HEADINGS.join(';')}\n\nAtlas;"5\n";${ADDED}\nZénith;6`);
});

it('neutralizes what a spreadsheet would run or change', async () => {
  const verdict = verdictOf(2, { number: '12/2026', reason: '=HYPERLINK("x")', dgiId: '+1', status: '@a' });
  const result = await written('Nom|Prix\nAtlas|5\n', { separator: '|' }, [verdict]);
  expect(result.split('\n')[1]).toBe(`Atlas|5|'12/2026|'@a|"'=HYPERLINK(""x"")"|'+1|https://facture.example/d/1`);
});

it.each(['utf-8', 'utf-16le', 'windows-1252'])(
  'guards what a spreadsheet would run in other fields, too (%s)',
  async (encoding) => {
    const text = `=N();"+Prix"\n=HYPERLINK("x");"=1;""2"""\n@SUM(1); -cmd\n-12,50;+212 522 00 00 00\n'=A1;a=b\n`;
    const guarded = `'=N();"'+Prix";${HEADINGS.join(';')}\n'=HYPERLINK("x");"'=1;""2"""\n'@SUM(1);' -cmd\n-12,50;+212 522 00 00 00\n'=A1;a=b\n`;
    expect(await written(text, { encoding }, [])).toBe(guarded);
  },
);

it('takes files in pieces of any size', async () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => `"Client ""${i}""";${i}\r\n`).join('');
  const verdicts = Array.from({ length: 20_000 }, (_, i) => verdictOf(i + 2, { number: `n${i}` }));
  const result = await written(`Nom;Prix\r\n${rows}`, { encoding: 'utf-16le' }, verdicts);
  const lines = result.split('\r\n');
  expect(lines).toHaveLength(20_002);
  expect(lines[20_000]).toBe(`"Client ""19999""";19999;n19999;Acceptée;;DGI-1;https://facture.example/d/1`);
});
