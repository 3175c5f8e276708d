import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { getDocumentProxy } from 'unpdf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPdfSigner } from '../../../src/adapters/pades/pdf-signer.ts';
import { createPdfRenderer } from '../../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
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

describe.each(['ar', 'fr'] as const)('Arabic in an invoice in %s', (documentLanguage) => {
  const renderer = createPdfRenderer({ cacheDir: CHROMIUM_CACHE, timeLimit: 60_000 });
  const signer = createPdfSigner();
  let drawn: Uint8Array;
  let signed: Uint8Array;
  beforeAll(async () => {
    const lines = [...NAMES, ...MIXED].map((name) => line(name, 1, 100, 20));
    // Names are bold, addresses regular.
    const customer = { ice: '002345678000047', name: NAMES.join('\n'), address: NAMES.join('\n'), email: null };
    drawn = await renderer.render(
      printed({ seller: { ...SELLER, documentLanguage, legalName: NAMES[0]! }, customer, lines }),
    );
    const attachment = {
      name: 'f.xml',
      description: '',
      relationship: 'Alternative',
      contentType: 'application/xml',
      content: Buffer.from('<a/>'),
    } as const;
    signed = await signer.sign(key, drawn, { title: 'x', at: SIGNING_TIME }, [attachment]);
  });
  afterAll(() => Promise.all([renderer.close(), signer.close()]));

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

  test.skipIf(!hasTool('pdftoppm'))('looks the same as before', () => {
    const picture = (pdf: Uint8Array) =>
      inFolder({ 'it.pdf': pdf }, (folder) =>
        execFileSync('pdftoppm', ['-r', '100', join(folder, 'it.pdf')], { maxBuffer: 100_000_000 }),
      );
    expect(picture(signed).equals(picture(drawn))).toBe(true);
  });
});

test.skipIf(!hasTool('pdfinfo'))('the totals follow the table of lines in the structure tree', async () => {
  const renderer = createPdfRenderer({ cacheDir: CHROMIUM_CACHE, timeLimit: 60_000 });
  const signer = createPdfSigner();
  try {
    const attachment = {
      name: 'f.xml',
      description: '',
      relationship: 'Alternative' as const,
      contentType: 'application/xml',
      content: Buffer.from('<a/>'),
    };
    for (const count of [1, 2, 3, 45]) {
      const drawn = await renderer.render(ordinary('fr', count));
      const pdf = await signer.sign(key, drawn, { title: 'x', at: SIGNING_TIME }, [attachment]);
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
  } finally {
    await Promise.all([renderer.close(), signer.close()]);
  }
});
