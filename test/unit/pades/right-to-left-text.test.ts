import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { getDocumentProxy } from 'unpdf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blankGlyphs } from '../../../src/adapters/pades/blank-glyphs.ts';
import { readablePages } from '../../../src/adapters/pades/page-contents.ts';
import { createPdfSigner } from '../../../src/adapters/pades/pdf-signer.ts';
import { inflated, inflatedStream } from '../../../src/adapters/pades/pdf-syntax.ts';
import { readPrintedPdf } from '../../../src/adapters/pades/printed-pdf.ts';
import { readUnicodeMap } from '../../../src/adapters/pades/unicode-maps.ts';
import { invoicePage } from '../../../src/adapters/pdf/invoice-page.ts';
import { createPdfRenderer } from '../../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { COMPANY } from '../../../src/domain/invoice/customer-kind.ts';
import { pdfium } from '../../support/pdfium.ts';
import { hasTool } from '../../support/tools.ts';
import { CHROMIUM_CACHE, line, ordinary, printed, SELLER, textOfPages } from '../pdf/support.ts';
import { ecKey, identityOf, SIGNING_TIME } from '../xades/identities.ts';
import { inFolder } from './support.ts';

const NAMES = [
  'شركة الأطلس للاستشارات والهندسة',
  'مؤسسة السلام للتجارة والأشغال',
  'شركة الإخوة بنجلون',
  'لا إله إلا الله',
  'مجموعة الآفاق الجديدة للإلكترونيات',
  'صيدلية الشريف',
  'تعاونية أركان الجنوب الفلاحية',
  'المكتب المغربي للمحاسبة والتدقيق',
  'مقاولة البناء والتعمير لمراكش',
  'شركة بيع وتوزيع المواد الغذائية',
  'مخبزة وحلويات الياسمين',
  'نقل ولوجستيك المتوسط',
  'محمد علي الحسني وأبناؤه',
  'شركة ڤيزيون للإشهار',
  'شركة پارس گاز',
  'في فى فلان لمحة نجحت لمجد',
  // Glyphs that the font's ToUnicode map maps to two letters.
  'مسرح شرح شرع أسرع سرج مشروع',
  // Letters that the bold font sets far apart.
  'التجارية الشريف العربي تعريف',
];
/** Words with marks over and under their letters, and digits. */
const VOCALIZED = 'خَدَماتٌ استشاريّة شكرًا لا لَا لِأ لُآ شَرِكَةٌ شَرْح الإِسْلَامُ سنة 2026 رقم ١٢٣ نظام ERP';
/**
 * Phrases in several fonts or directions: the words are always found, the phrase only if the reader reorders such runs.
 */
const MIXED = ['الدار البيضاء 20250', 'شركة ATLAS للبرمجيات', 'שלום עולם'];

const key = softwareKey(identityOf(ecKey('prime256v1')));
const words = (text: string) => text.replaceAll(/[^\P{Cf}]/gu, '').replaceAll(/\s+/gu, ' ');

async function inPdfJs(pdf: Uint8Array): Promise<string> {
  const document = await getDocumentProxy(Uint8Array.from(pdf));
  const pages: string[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const { items } = await (await document.getPage(number)).getTextContent();
    pages.push(items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join(''));
  }
  await document.destroy();
  return pages.join('\n');
}

const attachment = {
  name: 'f.xml',
  description: '',
  relationship: 'Alternative',
  contentType: 'application/xml',
  content: Buffer.from('<a/>'),
} as const;
const FACTS = { title: 'x', at: SIGNING_TIME };

/** The letters that a page of the signed PDF shows by operators of a single blank glyph each, which PDFium drops. */
function lettersAlone(drawn: Uint8Array): string[] {
  const { objects: printedObjects } = readPrintedPdf(drawn);
  const objects = new Map(printedObjects);
  for (const changed of readablePages(printedObjects)) objects.set(changed.number, changed);
  const text = (number: string | undefined) => objects.get(Number(number))?.content.toString('latin1') ?? '';
  const found: string[] = [];
  for (const { content } of objects.values()) {
    const page = content.toString('latin1');
    if (!/\/Type ?\/Page\b/.test(page)) continue;
    const fonts = new Map(
      [...(/\/Font ?<<([^<>]*)>>/.exec(page)?.[1] ?? '').matchAll(/\/(\w+) (\d+) 0 R/g)].map(([, name, number]) => {
        const map = objects.get(Number(/\/ToUnicode (\d+) 0 R/.exec(text(number))?.[1]));
        const descendant = text(/\/DescendantFonts \[(\d+) 0 R/.exec(text(number))?.[1]);
        const descriptor = text(/\/FontDescriptor (\d+) 0 R/.exec(descendant)?.[1]);
        const program = objects.get(Number(/\/FontFile2 (\d+) 0 R/.exec(descriptor)?.[1]));
        const blank = new Set(program && blankGlyphs(inflatedStream(program.content)!));
        return [name!, { letters: map && readUnicodeMap(map), blank }] as const;
      }),
    );
    let font = '';
    const lines = inflated(objects.get(Number(/\/Contents (\d+) 0 R/.exec(page)?.[1]))!.content)!;
    for (const [, name, shown] of lines.matchAll(/\/(\w+) [\d.]+ Tf$|((?:\[[^\]]*\]|<[0-9A-F]+>) TJ?j?)(?= |$)/gm)) {
      font = name ?? font;
      const codes = [...(shown ?? '').matchAll(/[0-9A-F]{4}(?=[0-9A-F]*>)/g)].map(([code]) =>
        Number.parseInt(code, 16),
      );
      const { letters, blank } = fonts.get(font) ?? {};
      if (codes.length === 1 && blank?.has(codes[0]!)) found.push(letters?.get(codes[0]!) ?? '');
    }
  }
  return found.filter((letter) => /\p{L}/u.test(letter));
}

/** The words of a page, apart from what is only in its style. */
async function wordsOf(invoice: Parameters<typeof invoicePage>[0]): Promise<string[]> {
  const page = (await invoicePage(invoice)).replace(/^.*<body>/s, '');
  // The rotated word behind the text comes out letter by letter.
  const body = page.replace(/<div class="mark">.*?<\/div>/s, '').replaceAll(/<[^>]*>/g, ' ');
  return [...new Set(body.replaceAll(/&[^;]+;/g, ' ').match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu))];
}

const plain = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[^\P{Cf}]/gu, '');
/** As the search of pdf.js compares: without marks. */
const withoutMarks = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '');

const renderer = createPdfRenderer({ cacheDir: CHROMIUM_CACHE, timeLimit: 60_000 });
const signer = createPdfSigner();
afterAll(() => Promise.all([renderer.close(), signer.close()]));

describe.each(['ar', 'fr', 'en'] as const)('the words of an ordinary invoice in %s', (documentLanguage) => {
  const page = ordinary(documentLanguage, 60, documentLanguage === 'ar' ? VOCALIZED : undefined);
  let drawn: Uint8Array;
  let signed: Uint8Array;
  let expected: string[];
  beforeAll(async () => {
    expected = await wordsOf(page);
    drawn = await renderer.render(page);
    signed = await signer.sign(key, drawn, FACTS, [attachment]);
  });
  const missingIn = (text: string) => expected.filter((word) => !plain(text).includes(plain(word)));

  test('are many', () => expect(expected.length).toBeGreaterThan(100));

  test.skipIf(!hasTool('pdftotext'))('are found by poppler', () => {
    expect(missingIn(textOfPages(signed).join('\n'))).toEqual([]);
  });

  test('are found by pdf.js', async () => {
    const text = withoutMarks(plain(await inPdfJs(signed)));
    expect(expected.filter((word) => !text.includes(withoutMarks(plain(word))))).toEqual([]);
  });

  test.skipIf(pdfium === null)('are found by PDFium (skipped without pypdfium2)', () => {
    const { text, missing } = pdfium!(signed, expected);
    expect({ text: missingIn(text), missing }).toEqual({ text: [], missing: [] });
  });

  test('are not shown by operators of a single blank glyph, which PDFium drops', () => {
    expect(lettersAlone(drawn)).toEqual([]);
  });
});

describe.each(['ar', 'fr'] as const)('Arabic in an invoice in %s', (documentLanguage) => {
  let drawn: Uint8Array;
  let signed: Uint8Array;
  beforeAll(async () => {
    const lines = [...NAMES, ...MIXED].map((name) => line(name, 1, 100, 20));
    // Names are bold, addresses regular.
    const customer = {
      ...COMPANY,
      ice: '002345678000047',
      name: NAMES.join('\n'),
      address: NAMES.join('\n'),
      email: null,
    };
    drawn = await renderer.render(
      printed({ seller: { ...SELLER, documentLanguage, legalName: NAMES[0]! }, customer, lines }),
    );
    signed = await signer.sign(key, drawn, FACTS, [attachment]);
  });

  test.skipIf(!hasTool('pdftotext'))('is found by poppler in logical order', () => {
    const text = words(textOfPages(signed).join('\n'));
    expect(NAMES.filter((name) => text.split(name).length !== 4 && name !== NAMES[0])).toEqual([]);
    expect(MIXED.flatMap((name) => name.split(' ')).filter((word) => !text.includes(word))).toEqual([]);
  });

  test('is found by pdf.js in logical order', async () => {
    const text = words(await inPdfJs(signed));
    expect(NAMES.filter((name) => !text.includes(name))).toEqual([]);
    expect(MIXED.flatMap((name) => name.split(' ')).filter((word) => !text.includes(word))).toEqual([]);
  });

  test.skipIf(pdfium === null)('is found by PDFium in logical order (skipped without pypdfium2)', () => {
    const expected = [...NAMES, ...MIXED].flatMap((name) => name.split(' '));
    const { text, missing } = pdfium!(signed, expected);
    expect(missing).toEqual([]);
    expect(NAMES.filter((name) => !words(text).includes(name))).toEqual([]);
  });

  test('shows no letter by an operator of a single blank glyph, which PDFium drops', () => {
    expect(lettersAlone(drawn)).toEqual([]);
  });

  test.skipIf(!hasTool('pdftoppm'))('looks the same as before', () => {
    const picture = (pdf: Uint8Array) =>
      inFolder({ 'it.pdf': pdf }, (folder) =>
        execFileSync('pdftoppm', ['-r', '100', join(folder, 'it.pdf')], { maxBuffer: 100_000_000 }),
      );
    expect(picture(signed).equals(picture(drawn))).toBe(true);
  });
});

test.skipIf(!hasTool('pdfinfo'))('the totals follow the table of lines in the structure tree', async () => {
  for (const count of [1, 2, 3, 45]) {
    const drawn = await renderer.render(ordinary('fr', count));
    const pdf = await signer.sign(key, drawn, FACTS, [attachment]);
    const structure = inFolder({ 'it.pdf': pdf }, (folder) =>
      execFileSync('pdfinfo', ['-struct', join(folder, 'it.pdf')], { encoding: 'utf8' }),
    );
    const outline = [...structure.matchAll(/^( *)(Table|TR|Caption|Figure|H2)\b/gm)].map(([, indent, type]) => ({
      depth: indent!.length,
      type,
    }));
    const tables = outline.filter(({ type }) => type === 'Table');
    expect(new Set(tables.map(({ depth }) => depth)).size).toBe(1);
    expect(tables).toHaveLength(3);
    const depth = tables[0]!.depth + 2;
    const rows = outline.slice(outline.indexOf(tables[0]!) + 1, outline.indexOf(tables[1]!));
    expect(rows).toEqual(Array(count + 1).fill({ depth, type: 'TR' }));
  }
});
